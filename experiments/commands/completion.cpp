#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>

#include "experiments/commands/command_line.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/flags.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/yaml/suggestion.h"
#include "experiments/errors.h"

namespace ablate::commands {
namespace {

// Each script hands the words so far to `ablate complete`, which prints the words that the last one
// can become, a line each with a tab and a description, or * if the shell completes a file name.

constexpr const char* kBash = R"(# Completion of ablate in bash: source <(ablate completion bash)
_ablate() {
  local word=${COMP_WORDS[COMP_CWORD]}
  mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
  if [[ ${COMPREPLY[0]} == '*' ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "${word#=}")
  elif [[ ${COMPREPLY[0]} == *= ]]; then
    compopt -o nospace 2>/dev/null
    COMPREPLY=("${COMPREPLY[@]#--*=}")
  else  # bash takes key=value for three words and replaces the last one
    COMPREPLY=("${COMPREPLY[@]##*=}")
  fi
}
complete -F _ablate ablate
)";

constexpr const char* kZsh = R"(#compdef ablate
# Completion of ablate in zsh: source <(ablate completion zsh)
_ablate() {
  local -a found=("${(@f)$($words[1] complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=("${(@)found%%$'\t'*}")
  if [[ $found[1] == '*' ]]; then
    compset -P '--*='
    _files
  else
    compadd -S '' -- ${(M)found:#*=}
    compadd -- ${found:#*=}
  fi
}
compdef _ablate ablate
)";

constexpr const char* kFish = R"(# Completion of ablate in fish: ablate completion fish | source
function __ablate_complete
  set -l words (commandline -opc)
  set -l word (commandline -ct)
  set -l found ($words[1] complete -- $words[2..-1] "$word" 2>/dev/null)
  if test "$found[1]" = '*'
    __fish_complete_path "$word"
  else
    string join \n -- $found
  end
end
complete -c ablate -f -a '(__ablate_complete)'
)";

void print_script(const std::string& shell) {
  if (shell == "bash")
    std::cout << kBash;
  else if (shell == "zsh")
    std::cout << kZsh;
  else if (shell == "fish")
    std::cout << kFish;
  else
    throw UsageError("unknown shell '" + shell + "'" +
                     config::did_you_mean(shell, {"bash", "zsh", "fish"}));
}

struct Candidate {
  std::string word, description = {};
};
using Candidates = std::vector<Candidate>;

const Candidates kFiles{{"*"}};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

Candidates verbs_of(const CLI::App& app) {
  Candidates verbs;
  for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!verb->get_group().empty())
      verbs.push_back({verb->get_name(), first_line(verb->get_description())});
  return verbs;
}

Candidates flag_candidates(const CLI::App& app) {
  Candidates flags;
  for (const auto* option : app.get_options())
    if (!option->get_group().empty())
      for (const auto& name : option->get_lnames())
        flags.push_back({"--" + name, first_line(option->get_description())});
  return flags;
}

/// The words a and b of "{a,b,STEP}" or, for a CLI::Transformer, of "{a->0,b->1}".
Candidates words_in(const std::string& type) {
  const auto begin = type.find('{') + 1;
  std::istringstream list(type.substr(begin, type.find('}') - begin));
  Candidates words;
  for (std::string word; std::getline(list, word, ',');)
    if (word[0] < 'A' || word[0] > 'Z') words.push_back({word.substr(0, word.find("->"))});
  return words;
}

bool is_section(const config::Schema& key) {
  return key.type == config::Schema::Type::mapping || key.type == config::Schema::Type::variant;
}

/// Every key path below `base`, followed by `end`.
Candidates key_paths(const std::string& end) {
  Candidates keys;
  const auto& schema = config::experiment_schema();
  for (const auto& path : config::all_paths(schema)) {
    const auto* key = config::node_at(schema, path);
    if (key == nullptr || !is_section(*key)) keys.push_back({path + end});
  }
  return keys;
}

/// "path=value" for every value that is a choice or a truth value.
Candidates values_of_key(const std::string& path) {
  const auto& schema = config::experiment_schema();
  const auto* key = config::node_at(schema, path);
  const auto end = std::min(path.rfind('.'), path.size());
  if (key == nullptr) {  // the kind of a section
    key = config::node_at(schema, path.substr(0, end));
    if (key == nullptr || path.substr(end) != "." + key->discriminator) return {};
  } else if (is_section(*key)) {
    return {};
  }
  const bool truth = key->type == config::Schema::Type::boolean;
  Candidates values;
  for (const auto& value : truth ? std::vector<std::string>{"true", "false"} : key->choices)
    values.push_back({path + "=" + value});
  return values;
}

/// The completions of `word` as a value of the option.
Candidates values_of(const CLI::Option& option, const CLI::App& app, const std::string& word) {
  const auto type = option.get_type_name();
  if (type == kVerb) return verbs_of(*app.get_parent());
  if (type == kKeyPath) return key_paths("");
  if (type == kKeyAndValue) {
    const auto end = word.find('=');
    return end == std::string::npos ? key_paths("=") : values_of_key(word.substr(0, end));
  }
  if (type.find('{') != std::string::npos) return words_in(type);
  return type.starts_with("TEXT") ? kFiles : Candidates{};
}

Candidates positionals_of(const CLI::App& app, const std::string& word) {
  for (const auto* option : app.get_options())
    if (option->get_positional()) return values_of(*option, app, word);
  return {};
}

/// bash splits key=value into three words, or two without a value.
std::vector<std::string> joined(const std::vector<std::string>& words) {
  std::vector<std::string> whole;
  bool open = false;  // the last one ends in a sign that bash split off
  for (const auto& word : words) {
    if ((word == "=" || open) && !whole.empty())
      whole.back() += word;
    else
      whole.push_back(word);
    open = word == "=";
  }
  return whole;
}

/// The candidates for the last word, not yet filtered by its beginning.
Candidates candidates_for(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  const CLI::Option* open = nullptr;  // its value comes next
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const bool is_value = open != nullptr;
    open = nullptr;
    if (is_value) continue;
    if (words[i].starts_with("--")) {
      const auto* option = option_named(*at, words[i]);
      if (option != nullptr && option->get_items_expected_max() > 0) open = option;
    } else if (const auto* verb = verb_named(*at, words[i])) {
      at = verb;
    }
  }
  const auto& word = words.back();
  if (open != nullptr) return values_of(*open, *at, word);
  if (!word.starts_with("-")) {
    const auto verbs = verbs_of(*at);
    return verbs.empty() ? positionals_of(*at, word) : verbs;
  }
  const auto end = word.find('=');
  if (end == std::string::npos) return flag_candidates(*at);
  const auto flag = word.substr(0, end);
  const auto* option = option_named(*at, flag);
  auto values = option == nullptr ? Candidates{} : values_of(*option, *at, word.substr(end + 1));
  if (values.size() == 1 && values[0].word == kFiles[0].word) return values;
  for (auto& value : values) value.word = flag + "=" + value.word;
  return values;
}

void print_candidates(const CLI::App& app, const std::vector<std::string>& given) {
  const auto words = joined(given);
  if (words.empty()) return;
  for (const auto& [word, description] : candidates_for(app, words))
    if (word == kFiles[0].word || word.starts_with(words.back()))
      std::cout << word << (description.empty() ? "" : "\t" + description) << '\n';
}

}  // namespace

void add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  auto* verb =
      app.add_subcommand("completion", "Print a script that lets a shell complete with Tab");
  verb->add_option("shell", *shell, "Which shell reads it")
      ->required()
      ->type_name(type_of_words({"bash", "zsh", "fish"}));
  verb->footer(
      "Put the line for your shell into its start-up file.\n"
      "Examples:\n"
      "  source <(ablate completion bash)\n"
      "  source <(ablate completion zsh)\n"
      "  ablate completion fish | source");
  verb->callback([shell] { print_script(*shell); });

  auto words = std::make_shared<std::vector<std::string>>();
  auto* asked = app.add_subcommand("complete", "Print the completions of the last word")->group("");
  asked->add_option("words", *words, "Behind --, the command line so far without the program");
  asked->callback([&app, words] { print_candidates(app, *words); });
}

}  // namespace ablate::commands
