#pragma once

#include <filesystem>
#include <optional>
#include <ostream>

#include "experiments/config/study.h"
#include "experiments/records/folders.h"
#include "experiments/records/result.h"

namespace ablate::run {

struct RunPlace {
  records::RunFolder folder;
  std::filesystem::path data_folder;  // where relative data paths start
  std::string study;
  int64_t threads;  // used where the configuration and an earlier start name none
  std::optional<int64_t> pause_after = {};  // a step after which the run is only validated
};

/// Trains and evaluates one run in this process, continuing where an earlier one stopped, and
/// writes result.json, or, where it pauses before its end, a RungScore. A finished run is left
/// alone. `messages` gets lines for people and records of progress (training/progress.h). Throws
/// UsageError where the folder holds a run of another configuration.
void run_one(const config::RunSpecification& run, const RunPlace& place, std::ostream& messages);

}  // namespace ablate::run
