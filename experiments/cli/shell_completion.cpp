#include "experiments/cli/shell_completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace ablate::cli {
namespace {

using WordList = std::vector<std::string>;

/// What may stand where a shell completes.
enum class Holds { nothing, words, keys, paths, files };

struct Slot {
  Holds holds = Holds::nothing;
  WordList words = {};
};

struct Flag {
  std::string name;
  std::string description;
  std::optional<Slot> value;
};

struct Verb {
  std::string path;  // "config show"; "" of the program itself
  WordList verbs;
  std::vector<Flag> flags;
  Slot positional;
};

bool shown(const CLI::App* app) { return !app->get_group().empty(); }

std::vector<const CLI::App*> verbs_below(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* verb) { return shown(verb); });
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

WordList names_below(const CLI::App& app) {
  WordList names;
  for (const auto* verb : verbs_below(app)) names.push_back(verb->get_name());
  return names;
}

/// "a,b,STEP" and, of a CLI::Transformer, "a->0,b->1".
WordList words_in(const std::string& list) {
  WordList words;
  for (const auto& word : CLI::detail::split(list, ','))
    if (word[0] < 'A' || word[0] > 'Z') words.push_back(word.substr(0, word.find("->")));
  return words;
}

/// What an option of `app` takes.
Slot slot_of(const CLI::Option& option, const CLI::App& app) {
  const auto type = option.get_type_name();
  if (type == kVerb) return {Holds::words, names_below(*app.get_parent())};
  if (type == kKeyAndValue) return {Holds::keys};
  if (type == kKeyPath) return {Holds::paths};
  if (const auto begin = type.find('{'); begin != std::string::npos)
    return {Holds::words, words_in(type.substr(begin + 1, type.find('}', begin) - begin - 1))};
  return {type.starts_with("TEXT") ? Holds::files : Holds::nothing};
}

void collect(const CLI::App& app, const std::string& path, std::vector<Verb>& verbs) {
  Verb verb{.path = path};
  for (const auto* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->get_positional() && verb.positional.holds == Holds::nothing)
      verb.positional = slot_of(*option, app);
    const auto value =
        option->get_items_expected_max() == 0 ? std::nullopt : std::optional(slot_of(*option, app));
    for (const auto& name : option->get_lnames())
      verb.flags.push_back({"--" + name, first_line(option->get_description()), value});
  }
  verb.verbs = names_below(app);
  verbs.push_back(verb);
  for (const auto* below : verbs_below(app))
    collect(*below, path.empty() ? below->get_name() : path + " " + below->get_name(), verbs);
}

std::vector<Verb> verbs_of(const CLI::App& app) {
  std::vector<Verb> verbs;
  collect(app, "", verbs);
  return verbs;
}

std::string name_of(Holds holds) {
  switch (holds) {
    case Holds::nothing:
      return "nothing";
    case Holds::words:
      return "words";
    case Holds::keys:
      return "keys";
    case Holds::paths:
      return "paths";
    case Holds::files:
      return "files";
  }
  return "";
}

std::string case_line(const std::string& pattern, const Slot& slot) {
  return fmt::format("    {}) _ablate_holds={} _ablate_words='{}' ;;\n", pattern,
                     name_of(slot.holds), fmt::join(slot.words, " "));
}

/// The value of every flag; a flag without one leaves what the verb itself takes.
std::string value_cases(const std::vector<Verb>& verbs) {
  std::string cases;
  for (const auto& verb : verbs)
    for (const auto& flag : verb.flags)
      if (flag.value) cases += case_line(fmt::format("'{}:{}'", verb.path, flag.name), *flag.value);
  return cases;
}

std::string key_cases(const std::vector<CompletedKey>& keys) {
  std::string cases;
  for (const auto& key : keys)
    cases += case_line(fmt::format("*':{}'", key.path),
                       {key.words.empty() ? Holds::nothing : Holds::words, key.words});
  return cases;
}

std::string verb_cases(const std::vector<Verb>& verbs) {
  std::string cases;
  for (const auto& verb : verbs) {
    const Slot slot = verb.verbs.empty() ? verb.positional : Slot{Holds::words, verb.verbs};
    cases += case_line(fmt::format("'{}:'*", verb.path), slot);
  }
  return cases;
}

std::string flag_cases(const std::vector<Verb>& verbs) {
  std::string cases;
  for (const auto& verb : verbs) {
    WordList flags;
    for (const auto& flag : verb.flags) flags.push_back(flag.name);
    cases += fmt::format("    '{}') _ablate_flags='{}' ;;\n", verb.path, fmt::join(flags, " "));
  }
  return cases;
}

/// Functions that bash and zsh read alike: what may follow a verb and the word before.
std::string tables(const Vocabulary& vocabulary) {
  const auto verbs = verbs_of(vocabulary.app);
  WordList paths, keys;
  for (const auto& verb : verbs)
    if (!verb.path.empty()) paths.push_back(fmt::format("'{}'", verb.path));
  for (const auto& key : vocabulary.keys) keys.push_back(key.path + "=");
  return fmt::format(
      "_ablate_keys='{}'\n\n"
      "# The verb that the words so far name, such as `config show`.\n"
      "_ablate_find_verb() {{\n  local word\n  _ablate_verb=''\n  for word in \"$@\"; do\n"
      "    case \"${{_ablate_verb:+$_ablate_verb }}$word\" in\n"
      "      {}) _ablate_verb=\"${{_ablate_verb:+$_ablate_verb }}$word\" ;;\n    esac\n  "
      "done\n}}\n\n"
      "# What may follow verb $1 after the word $2.\n"
      "_ablate_find_words() {{\n  case \"$1\" in\n{}  esac\n  case \"$1:$2\" in\n{}{}{}  "
      "esac\n}}\n\n",
      fmt::join(keys, " "), fmt::join(paths, "|"), flag_cases(verbs), value_cases(verbs),
      key_cases(vocabulary.keys), verb_cases(verbs));
}

std::string fish_words(const Slot& slot, const std::vector<CompletedKey>& keys) {
  WordList words = slot.words;
  if (slot.holds == Holds::keys || slot.holds == Holds::paths)
    for (const auto& key : keys) {
      const std::string end = slot.holds == Holds::keys ? "=" : "";
      if (end.empty() || key.words.empty()) words.push_back(key.path + end);
      for (const auto& word : key.words)
        if (!end.empty()) words.push_back(key.path + end + word);
    }
  if (slot.holds == Holds::files) return " -F";
  return words.empty() ? "" : fmt::format(" -a '{}'", fmt::join(words, " "));
}

std::string fish_text(const std::string& text) {
  std::string quoted;
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return fmt::format("'{}'", quoted);
}

/// The descriptions of a verb's verbs, and what stands without a flag.
std::string fish_verb(const CLI::App& app, const Verb& verb, const std::string& at,
                      const std::vector<CompletedKey>& keys) {
  std::string text;
  for (const auto* below : verbs_below(app))
    text += fmt::format("complete -c ablate -n {} -a {} -d {}\n", at, below->get_name(),
                        fish_text(first_line(below->get_description())));
  if (verb.verbs.empty() && verb.positional.holds != Holds::nothing)
    text += fmt::format("complete -c ablate -n {}{}\n", at, fish_words(verb.positional, keys));
  return text;
}

const CLI::App& app_at(const CLI::App& app, const std::string& path) {
  const CLI::App* at = &app;
  if (!path.empty())
    for (const auto& name : CLI::detail::split(path, ' ')) at = at->get_subcommand(name);
  return *at;
}

}  // namespace

std::string type_of_words(const std::vector<std::string>& words) {
  return fmt::format("{{{}}}", fmt::join(words, ","));
}

std::string bash_completion(const Vocabulary& vocabulary) {
  return "# Completion of ablate in bash: source <(ablate completion bash)\n" + tables(vocabulary) +
         R"(_ablate() {
  local _ablate_verb _ablate_holds _ablate_words _ablate_flags
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
  # bash takes key=value for three words.
  if [[ $word == = ]]; then word=''; elif [[ $before == = ]]; then before="${COMP_WORDS[COMP_CWORD-2]}"; fi
  _ablate_find_verb "${COMP_WORDS[@]:1:COMP_CWORD-1}"
  _ablate_find_words "$_ablate_verb" "$before"
  if [[ $word == -* ]]; then _ablate_holds=words _ablate_words=$_ablate_flags; fi
  COMPREPLY=()
  case $_ablate_holds in
    words) COMPREPLY=($(compgen -W "$_ablate_words" -- "$word")) ;;
    paths) COMPREPLY=($(compgen -W "${_ablate_keys//=/}" -- "$word")) ;;
    keys)
      compopt -o nospace 2>/dev/null
      COMPREPLY=($(compgen -W "$_ablate_keys" -- "$word")) ;;
    files)
      compopt -o filenames 2>/dev/null
      local IFS=$'\n'
      COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -F _ablate ablate
)";
}

std::string zsh_completion(const Vocabulary& vocabulary) {
  return "#compdef ablate\n# Completion of ablate in zsh: source <(ablate completion zsh)\n" +
         tables(vocabulary) +
         R"(_ablate() {
  local _ablate_verb _ablate_holds _ablate_words _ablate_flags
  local word=${words[CURRENT]} before=${words[CURRENT-1]}
  if [[ $word == *=* && ( $word == --* || $before == --set ) ]]; then
    before=${word%%=*} word=''
    compset -P '*='
  fi
  _ablate_find_verb "${(@)words[2,CURRENT-1]}"
  _ablate_find_words "$_ablate_verb" "$before"
  if [[ $word == -* ]]; then _ablate_holds=words _ablate_words=$_ablate_flags; fi
  case $_ablate_holds in
    words) compadd -- ${=_ablate_words} ;;
    paths) compadd -- ${=_ablate_keys//=/} ;;
    keys) compadd -S '' -- ${=_ablate_keys} ;;
    files) _files ;;
  esac
}
compdef _ablate ablate
)";
}

std::string fish_completion(const Vocabulary& vocabulary) {
  const auto verbs = verbs_of(vocabulary.app);
  WordList paths;
  for (const auto& verb : verbs) paths.push_back(fmt::format("'{}'", verb.path));
  std::string text = fmt::format(
      "# Completion of ablate in fish: ablate completion fish | source\n"
      "function __ablate_at\n  set -l verb\n  for word in (commandline -opc)[2..-1]\n"
      "    set -l longer (string join -- ' ' $verb $word)\n"
      "    contains -- $longer {}; and set verb $longer\n  end\n"
      "  test \"$verb\" = \"$argv[1]\"\nend\ncomplete -c ablate -f\n",
      fmt::join(paths, " "));
  for (const auto& verb : verbs) {
    const auto at = fmt::format("\"__ablate_at '{}'\"", verb.path);
    text += fish_verb(app_at(vocabulary.app, verb.path), verb, at, vocabulary.keys);
    for (const auto& flag : verb.flags)
      text += fmt::format("complete -c ablate -n {} -l {}{}{} -d {}\n", at, flag.name.substr(2),
                          flag.value ? " -r" : "",
                          flag.value ? fish_words(*flag.value, vocabulary.keys) : "",
                          fish_text(flag.description));
  }
  return text;
}

}  // namespace ablate::cli
