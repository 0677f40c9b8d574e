#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>

#include "experiments/commands/model/model_commands.h"
#include "experiments/errors.h"
#include "training/storage/io_error.h"

namespace ablate::commands {
namespace {

struct FetchFlags {
  std::string name;
  std::string to;
  std::string from;
  int64_t patience = 60;
  bool list = false;
};

std::string script() {
  const auto places = shipped_places("experiments/corpora");
  for (const auto& place : places)
    if (std::filesystem::exists(place / "__main__.py")) return place;
  throw training::IoError(fmt::format("the script that fetches is neither {} nor {}; install it",
                                      places[0].string(), places[1].string()));
}

/// Becomes the script, whose exit codes are ours.
void fetch_named(const FetchFlags& flags) {
  std::vector<std::string> words{"python3", "-B", script(),
                                 "--patience=" + std::to_string(flags.patience)};
  if (flags.list) words.push_back("--list");
  words.insert(words.end(), {"--to=" + flags.to, "--from=" + flags.from, "--", flags.name});
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  throw training::io_error("run", "python3", errno);
}

}  // namespace

std::vector<std::filesystem::path> shipped_places(const std::filesystem::path& in_source) {
  const auto above = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  return {above / "share/ablate" / in_source, above / in_source};
}

void add_data_fetch(CLI::App& data) {
  auto flags = std::make_shared<FetchFlags>();
  auto* verb = data.add_subcommand("fetch", "Download a corpus, or make it from downloads");
  verb->add_option("name", flags->name, "The corpus, one of those of --list");
  verb->add_flag("--list", flags->list, "List the corpora that can be fetched");
  verb->add_option("--to", flags->to, "Folder in which the corpus's folder is made");
  verb->add_option("--from", flags->from,
                   "A mirror, as a URL or folder; absent: the servers that the recipe names, and "
                   "apt-get and pip for Debian's and Python's packages");
  verb->add_option("--patience", flags->patience,
                   "Seconds in which a server sends 1,000 bytes, or else is given up")
      ->check(CLI::Range(int64_t{1}, int64_t{86'400}))
      ->capture_default_str();
  verb->footer(
      "The licence is shown first. Every download is verified by its SHA-256. The corpus is "
      "written "
      "whole or not at all, and the same command continues an interrupted download. It takes "
      "python3.\n"
      "Examples:\n  ablate data fetch --list\n  ablate data fetch tinyshakespeare --to data\n  "
      "ablate data fetch debian-en-de --to data --from http://localhost:8000/debian");
  verb->callback([flags] { fetch_named(*flags); });
}

}  // namespace ablate::commands
