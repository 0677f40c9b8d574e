#include <iostream>
#include <memory>

#include "experiments/commands/command_line.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/shell_completion.h"
#include "experiments/exit_code.h"

namespace ablate::experiments {

void add_help(CLI::App& app) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto* verb = app.add_subcommand("help", "Print the help of a verb");
  verb->add_option("verb", *words, "The verb, and one of its own; absent: all verbs")
      ->type_name(kVerb);
  verb->footer("Examples:\n  ablate help run\n  ablate help config show");
  verb->callback([&app, words] {
    const auto mistake = unknown_word(app, *words);
    if (!mistake.empty()) throw UsageError(mistake);
    std::cout << help_of(*words);
  });
}

}  // namespace ablate::experiments
