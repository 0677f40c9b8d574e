#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/config/study.h"

namespace ablate::experiments {

/// How a study's runs are carried out.
struct StudyOptions {
  std::filesystem::path output;      // folder of all studies
  std::vector<std::string> command;  // starts a run in a process; the run's own flags are appended
  int64_t jobs = 0;                  // runs at a time; 0: one per core
};

/// A run that ended without a result.
struct FailedRun {
  std::string label;  // task/arm/seed-n
  int exit_code = 0;
};

struct StudyOutcome {
  std::vector<FailedRun> failed;
  bool interrupted = false;
};

/// task/arm/seed-n
std::string label(const RunSpecification& run);

/// Trains every run of the study that is not finished, each in a process of its own. A run that
/// fails does not stop the others.
StudyOutcome run_study(const Study& study, const StudyOptions& options);

/// Throws RunsFailed where a run failed, else Interrupted where one was interrupted.
void raise(const StudyOutcome& outcome);

}  // namespace ablate::experiments
