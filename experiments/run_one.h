#pragma once

#include <filesystem>
#include <ostream>

#include "experiments/config/study.h"
#include "experiments/result.h"

namespace ablate::experiments {

/// runs/<study>/<task>/<arm>/seed-<n>
std::filesystem::path run_folder(const std::filesystem::path& output, const std::string& study,
                                 const RunSpecification& run);

/// Generated data is the same for every run of a study; runs differ in weights, order and dropout.
inline constexpr uint64_t kDataSeed = 1;

/// Where a run's relative data paths start: `given`, or where they did in training.
std::filesystem::path data_folder_of(const std::filesystem::path& run, const std::string& given);

struct RunPlace {
  std::filesystem::path folder;       // of this run
  std::filesystem::path data_folder;  // where relative data paths start
  std::string study;
  int64_t threads;  // used where the configuration and an earlier start name none
};

/// Trains and evaluates one run in this process, continuing where an earlier one stopped, and
/// writes result.json. A finished run is only read. `messages` gets lines for people and records of
/// progress (training/progress.h). Throws UsageError where the folder holds a run
/// of another configuration.
RunResult run_one(const RunSpecification& run, const RunPlace& place, std::ostream& messages);

}  // namespace ablate::experiments
