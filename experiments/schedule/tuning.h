#pragma once

#include "experiments/schedule/run_study.h"

namespace ablate::schedule {

/// Removes leftovers of an earlier start from the folders of runs, including candidates: failures,
/// so that they are tried again, and unfinished files.
void clear_earlier_start(const config::Study& study, const records::StudyFolder& folder);

/// The next runs of tuning.
struct TuningStage {
  std::vector<config::RunSpecification> runs;
  bool searching = false;  // by values on the tuning seeds; otherwise the best ones on all seeds,
                           // and the values whose runs failed
};

/// The next runs of a study that tunes a key, by the files of its runs; empty if it tunes none.
/// Throws CheckpointError if a result.json is damaged.
TuningStage tuning_stage(const config::Study& study, const records::StudyFolder& folder);

/// run_study(), and if the study tunes a key: every arm with every value on the tuning seeds, then
/// every arm with its best value on all seeds. The search of an arm stops at a run that failed
/// otherwise than by diverging, until the study is started again.
StudyOutcome run_with_tuning(const config::Study& study, const StudyOptions& options);

/// The runs that may start now, all side by side: not done, not failed for good, and the run that
/// they start from is finished. Throws CheckpointError if a result.json is damaged.
std::vector<config::RunSpecification> next_wave(const config::Study& study,
                                                const records::StudyFolder& folder,
                                                int64_t retries);

}  // namespace ablate::schedule
