#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "experiments/config/study/selection.h"
#include "experiments/records/folders.h"
#include "options/enumeration.h"

namespace ablate::commands {

/// The launcher of the processes of runs, if it is not this program.
ABLATE_ENUM(Launcher, slurm, print);

/// When a study that may be looked at often is done.
ABLATE_ENUM(Until, decided);

struct RunRequest {
  std::string study;
  std::string output = records::kDefaultOutput;
  std::string data;
  config::Selection selection;
  int64_t jobs = 0;
  int64_t retries = 1;
  bool dry_run = false;
  bool list = false;
  bool json = false;
  std::optional<Launcher> launcher;
  std::string slurm, prologue;
  std::optional<int64_t> threads;
  int64_t ranks = 1;
  int64_t grace = 120;
  bool waits = false;
  std::optional<Until> until;
  int64_t at_most = 20;  // seeds
};

/// Adds the flags of `ablate run`.
void add_run_flags(CLI::App& verb, RunRequest& request);

/// Refuses flags that this use of the verb does not read.
void check_run_flags(const CLI::App& verb, const RunRequest& request);

}  // namespace ablate::commands
