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
  int64_t retries = 1;               // of a run that crashed: see worth_retrying()
};

/// A run that ended without a result.
struct FailedRun {
  std::string label;
  int exit_code = 0;
};

struct StudyOutcome {
  std::vector<FailedRun> failed;
  bool interrupted = false;
};

/// task/arm/seed-n
std::string label(const RunSpecification& run);

/// Trains every run of the study that is not finished, each in a process of its own, after the run
/// that it starts from. A run that fails does not stop the others and leaves failure.json; what it
/// says is kept in log.txt. A stop request is passed on to the running ones, and none is started
/// any more. Shows all this on standard error.
StudyOutcome run_study(const Study& study, const StudyOptions& options);

/// Throws RunsFailed where a run failed, else Interrupted where one was interrupted.
void raise(const StudyOutcome& outcome);

}  // namespace ablate::experiments
