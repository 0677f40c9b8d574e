#include <iostream>
#include <memory>
#include <sstream>
#include <utility>

#include "experiments/commands/command_line.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/flags.h"
#include "experiments/config/schema/schema.h"

namespace ablate::commands {
namespace {

using WordList = std::vector<std::string>;

// If the program has no answer, because the verb takes a file or a number, bash completes file
// names.
constexpr const char* kScript =
    R"(# Completion of ablate in bash, and in zsh after: autoload -U compinit bashcompinit; compinit; bashcompinit
_ablate() {
  COMPREPLY=($("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:$COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _ablate ablate
)";

/// The words a and b of "{a,b,STEP}" or, for a CLI::Transformer, of "{a->0,b->1}".
WordList words_in(const std::string& type) {
  const auto begin = type.find('{') + 1;
  std::istringstream list(type.substr(begin, type.find('}') - begin));
  WordList words;
  for (std::string word; std::getline(list, word, ',');)
    if (word[0] < 'A' || word[0] > 'Z') words.push_back(word.substr(0, word.find("->")));
  return words;
}

WordList values_of(const CLI::Option& option, const CLI::App& app) {
  const auto type = option.get_type_name();
  if (type == kVerb) return verb_names(*app.get_parent());
  if (type == kKeyPath || type == kKeyAndValue)
    return config::all_paths(config::experiment_schema());
  return type.find('{') == std::string::npos ? WordList{} : words_in(type);
}

/// The words that can follow `words`: flags, or else values and verbs.
WordList words_behind(const CLI::App& app, const WordList& words, bool flag) {
  const CLI::App* at = &app;
  const CLI::Option* open = nullptr;  // its value comes next
  for (const auto& word : words) {
    if (std::exchange(open, nullptr) != nullptr) continue;
    if (word.starts_with("--")) {
      const auto* option = option_named(*at, word);
      if (option != nullptr && option->get_items_expected_max() > 0) open = option;
    } else if (const auto* verb = verb_named(*at, word)) {
      at = verb;
    }
  }
  if (open != nullptr) return values_of(*open, *at);
  if (flag) return flags_of(*at);
  if (auto verbs = verb_names(*at); !verbs.empty()) return verbs;
  for (const auto* option : at->get_options())
    if (option->get_positional()) return values_of(*option, *at);
  return {};
}

void print_completions(const CLI::App& app, WordList words) {
  if (words.empty()) return;
  const auto last = std::move(words.back());
  words.pop_back();
  for (const auto& word : words_behind(app, words, last.starts_with("-")))
    if (word.starts_with(last)) std::cout << word << '\n';
}

}  // namespace

void add_completion(CLI::App& app) {
  auto* verb =
      app.add_subcommand("completion", "Print a script that lets a shell complete with Tab");
  verb->footer("Put this line into the start-up file of bash:\n  source <(ablate completion)");
  verb->callback([] { std::cout << kScript; });

  auto words = std::make_shared<WordList>();
  auto* asked = app.add_subcommand("complete", "Print the completions of the last word")->group("");
  asked->add_option("words", *words, "Behind --, the command line so far without the program");
  asked->callback([&app, words] { print_completions(app, *words); });
}

}  // namespace ablate::commands
