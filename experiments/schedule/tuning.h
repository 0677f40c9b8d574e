#pragma once

#include "experiments/schedule/run_study.h"

namespace ablate::schedule {

/// Removes what an earlier start left in the folders of runs, those of candidates included:
/// failures, so that they are tried again, and files that it did not finish.
void clear_earlier_start(const config::Study& study, const records::StudyFolder& folder);

/// Runs by which tuning goes on.
struct TuningStage {
  std::vector<config::RunSpecification> runs;
  bool searching = false;  // by values on the tuning seeds; otherwise the best ones on all seeds,
                           // and the values whose runs failed
};

/// What a study that tunes a key has to run next, as far as the files of its runs tell; nothing
/// where it tunes none. Throws CheckpointError where a result.json is damaged.
TuningStage tuning_stage(const config::Study& study, const records::StudyFolder& folder);

/// run_study(), and where the study tunes a key: every arm with every value on the tuning seeds,
/// then of every arm the best one on all seeds. The search of an arm stops at a run that failed
/// otherwise than by diverging, until the study is started again.
StudyOutcome run_with_tuning(const config::Study& study, const StudyOptions& options);

/// The runs that may be worked on now, all side by side: not done, not failed for good, and what
/// they start from is finished. Throws CheckpointError where a result.json is damaged.
std::vector<config::RunSpecification> next_wave(const config::Study& study,
                                                const records::StudyFolder& folder,
                                                int64_t retries);

}  // namespace ablate::schedule
