#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/study.h"
#include "experiments/records/folders.h"
#include "experiments/schedule/worker.h"

namespace ablate::schedule {

/// How a study's runs are carried out.
struct StudyOptions {
  records::StudyFolder folder;
  int64_t jobs = 0;                     // runs at a time; 0: see share_cores()
  std::optional<int64_t> threads = {};  // of each run; absent: see share_cores()
  int64_t ranks = 1;                    // processes that share the work of a run
  int64_t retries = 1;                  // of a run that crashed: see worth_retrying()
  bool has_gpu = false;                 // which a run takes unless it asks for another device
};

/// How runs share the machine.
struct Sharing {
  int64_t jobs = 1;  // runs at a time
  Worker worker;     // of each
};

/// `options.jobs` runs at a time; where it is 0, as many as have a core for
/// each of their ranks, or one where a run trains on a GPU.
/// Threads follow from the study alone, since their number may change a result's last digits: cores
/// divided by all its runs, at least one.
Sharing share_cores(const config::Study& study, const StudyOptions& options);

/// A run that ended without a result.
struct FailedRun {
  std::string label;
  int exit_code = 0;
};

struct StudyOutcome {
  std::vector<FailedRun> failed;
  bool interrupted = false;
};

/// Whether the run is finished, so that nothing is left to do for it.
bool is_done(const records::RunFolder& folder);

/// Trains every run of the study that is not done, each in a process of its own, after the run
/// that it starts from. A run that fails does not stop the others and leaves failure.json; what it
/// says is kept in log.txt. A stop request is passed on to the running ones, and none is started
/// any more. Shows all this on standard error.
StudyOutcome run_study(const config::Study& study, const StudyOptions& options);

/// Throws RunsFailed where a run failed, else Interrupted where one was interrupted.
void raise(const StudyOutcome& outcome);

}  // namespace ablate::schedule
