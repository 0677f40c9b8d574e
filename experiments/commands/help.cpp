#include <iostream>
#include <memory>

#include "experiments/cli/shell_completion.h"
#include "experiments/commands/command_line.h"
#include "experiments/commands/commands.h"
#include "experiments/errors.h"

namespace ablate::commands {

void add_help(CLI::App& app) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto all = std::make_shared<bool>(false);
  auto* verb = app.add_subcommand("help", "Print the help of a verb");
  verb->add_option("verb", *words, "The verb, and one of its own; absent: all verbs")
      ->type_name(cli::kVerb);
  verb->add_flag("--all", *all, "Print the help of every verb as a Markdown page");
  verb->footer("Examples:\n  ablate help run\n  ablate help config show\n  ablate help --all");
  verb->callback([&app, words, all] {
    if (*all) {
      std::cout << reference_page();
      return;
    }
    const auto mistake = unknown_word(app, *words);
    if (!mistake.empty()) throw UsageError(mistake);
    std::cout << help_of(*words);
  });
}

}  // namespace ablate::commands
