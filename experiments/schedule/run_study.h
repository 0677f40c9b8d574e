#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/study/study.h"
#include "experiments/records/folders.h"
#include "experiments/records/tuned_arms.h"
#include "experiments/schedule/worker.h"

namespace ablate::schedule {

/// Options of running a study.
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
  int64_t jobs = 1;  // runs at a time, on a GPU as far as its memory allows: see SharedGpu
  bool gpu = false;  // whether one is trained on
  Worker worker;     // of each
};

/// `options.jobs` runs at a time; if it is 0, as many as have a core for each of their ranks, or
/// one if a run trains on a GPU. The number of threads depends only on the study, since it may
/// change a result's last digits: cores divided by all its runs, at least one.
Sharing share_cores(const config::Study& study, const StudyOptions& options);

/// A run that ended without a result.
struct FailedRun {
  std::string label;
  int exit_code = 0;
  std::string why = {};  // empty: by the exit code
};

struct StudyOutcome {
  std::vector<FailedRun> failed;
  bool interrupted = false;
};

/// Whether the run is finished.
bool is_done(const records::RunFolder& folder);

/// Trains every run of the study that is not done, each in its own process, after the run that it
/// starts from. A run that fails does not stop the others and leaves failure.json; its messages are
/// kept in log.txt. A stop request is passed on to the running ones, and no further one is started.
/// Shows the progress on standard error.
/// The counts go on from `before`, for which `study` may have only a part of the runs.
StudyOutcome run_study(const config::Study& study, const StudyOptions& options,
                       const records::StudyProgress& before);

/// Throws RunsFailed if a run failed, else Interrupted if one was interrupted.
void raise(const StudyOutcome& outcome);

}  // namespace ablate::schedule
