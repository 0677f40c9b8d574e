#include <iostream>
#include <memory>

#include "experiments/cli/shell_completion.h"
#include "experiments/commands/commands.h"
#include "experiments/config/schema.h"
#include "experiments/config/suggestion.h"
#include "experiments/records/exit_code.h"

namespace ablate::commands {
namespace {

/// Every key path below `base`; a value is a word where it is a choice or a truth value.
std::vector<cli::CompletedKey> completed_keys() {
  const auto& schema = config::experiment_schema();
  std::vector<cli::CompletedKey> keys;
  for (const auto& path : config::all_paths(schema)) {
    const auto* key = config::node_at(schema, path);
    const auto* section = config::node_at(schema, path.substr(0, path.rfind('.')));
    if (key == nullptr && section != nullptr)
      keys.push_back({path, section->choices});  // the kind of a variant
    else if (key != nullptr && key->type == config::Schema::Type::boolean)
      keys.push_back({path, {"true", "false"}});
    else if (key != nullptr && key->type != config::Schema::Type::mapping &&
             key->type != config::Schema::Type::variant)
      keys.push_back({path, key->choices});
  }
  return keys;
}

const CLI::App& root_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? app : root_of(*app.get_parent());
}

void print_completion(const CLI::App& app, const std::string& shell) {
  const cli::Vocabulary vocabulary{root_of(app), completed_keys()};
  if (shell == "bash")
    std::cout << cli::bash_completion(vocabulary);
  else if (shell == "zsh")
    std::cout << cli::zsh_completion(vocabulary);
  else if (shell == "fish")
    std::cout << cli::fish_completion(vocabulary);
  else
    throw records::UsageError("unknown shell '" + shell + "'" +
                              config::did_you_mean(shell, {"bash", "zsh", "fish"}));
}

}  // namespace

void add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  auto* verb = app.add_subcommand("completion", "Print what lets a shell complete with Tab");
  verb->add_option("shell", *shell, "Which shell reads it")
      ->required()
      ->type_name(cli::type_of_words({"bash", "zsh", "fish"}));
  verb->footer(
      "Put the line for your shell into its start-up file.\n"
      "Examples:\n"
      "  source <(ablate completion bash)\n"
      "  source <(ablate completion zsh)\n"
      "  ablate completion fish | source");
  verb->callback([verb, shell] { print_completion(*verb, *shell); });
}

}  // namespace ablate::commands
