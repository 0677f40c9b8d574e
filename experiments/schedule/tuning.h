#pragma once

#include "experiments/schedule/run_study.h"

namespace ablate::schedule {

/// Removes leftovers of an earlier start from the folders of runs: failures, so that they are tried
/// again, and unfinished files. A run of a search or of a curve that diverged stays.
void clear_earlier_start(const config::Study& study, const records::StudyFolder& folder);

/// run_study() and, if the study tunes keys: trial runs until every arm's best values are known,
/// and each arm with them as soon as they are. The search of an arm stops at a run that failed
/// otherwise than by diverging, until the study is started again.
StudyOutcome run_with_tuning(const config::Study& study, const StudyOptions& options);

/// The runs that may start now, all side by side: not done, not failed for good, and the run that
/// they start from is finished. Throws CheckpointError if a result.json is damaged.
std::vector<config::RunSpecification> next_wave(const config::Study& study,
                                                const records::StudyFolder& folder,
                                                int64_t retries);

/// The state of all runs of a study by its folders, for raise(). An arm of which every combination
/// diverged has failed, and one by curve of which so many values did that it has no curve.
StudyOutcome outcome_of(const config::Study& study, const records::StudyFolder& folder);

}  // namespace ablate::schedule
