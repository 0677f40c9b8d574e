#include "experiments/corpora/fetch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "experiments/cli/shell_completion.h"
#include "experiments/commands/model/model_commands.h"
#include "experiments/config/suggestion.h"
#include "experiments/corpora/recipes/recipes.h"
#include "experiments/records/exit_code.h"

namespace ablate::commands {
namespace {

struct FetchFlags {
  std::string name;
  std::string to;
  std::string from;
  int64_t patience = 60;
  bool list = false;
};

void list_recipes() {
  for (const auto& recipe : corpora::recipes()) {
    uint64_t bytes = 0;
    for (const auto& source : recipe.sources) bytes += source.bytes;
    std::cout << fmt::format("{:<16} {:>5.1f} MB  {}\n", recipe.name,
                             static_cast<double>(bytes) / 1e6, recipe.about);
  }
}

std::vector<std::string> names_of_recipes() {
  std::vector<std::string> names;
  for (const auto& recipe : corpora::recipes()) names.push_back(recipe.name);
  return names;
}

corpora::Recipe recipe_named(const std::string& name) {
  const auto all = corpora::recipes();
  const auto found = std::ranges::find(all, name, &corpora::Recipe::name);
  if (found != all.end()) return *found;
  const auto names = names_of_recipes();
  throw records::UsageError(name.empty() ? "name a corpus: " + config::alternatives(names)
                                         : "there is no corpus '" + name + "'" +
                                               config::did_you_mean(name, names));
}

void fetch_named(const FetchFlags& flags) {
  if (flags.list) return list_recipes();
  const auto recipe = recipe_named(flags.name);
  if (flags.to.empty())
    throw records::UsageError("name the folder to fetch into with --to, as in --to data");
  corpora::fetch({.recipe = recipe,
                  .to = flags.to,
                  .from = flags.from,
                  .patience = flags.patience,
                  .notes = std::cerr,
                  .terminal = isatty(STDERR_FILENO) != 0});
  std::cout << (std::filesystem::path(flags.to) / recipe.name).string() << "\n";
}

}  // namespace

void add_data_fetch(CLI::App& data) {
  auto flags = std::make_shared<FetchFlags>();
  auto* verb = data.add_subcommand("fetch", "Download a corpus, or make it from downloads");
  verb->add_option("name", flags->name, "The corpus")
      ->type_name(cli::type_of_words(names_of_recipes()));
  verb->add_flag("--list", flags->list, "List the corpora that can be fetched");
  verb->add_option("--to", flags->to, "Folder in which the corpus's folder is made");
  verb->add_option(
      "--from", flags->from,
      "A mirror, as a URL or folder; absent: the public servers that the recipe names");
  verb->add_option("--patience", flags->patience,
                   "Seconds in which a server sends 1,000 bytes, or else is given up")
      ->check(CLI::Range(int64_t{1}, int64_t{86'400}))
      ->capture_default_str();
  verb->footer(
      "The licence is shown first. Every download is verified by its SHA-256. The corpus is "
      "written "
      "whole or not at all, and the same command continues an interrupted download.\n"
      "Examples:\n  ablate data fetch --list\n  ablate data fetch tinyshakespeare --to data\n  "
      "ablate data fetch debian-en-de --to data --from http://localhost:8000/debian");
  verb->callback([flags] { fetch_named(*flags); });
}

}  // namespace ablate::commands
