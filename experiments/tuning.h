#pragma once

#include "experiments/run_study.h"

namespace ablate::experiments {

/// run_study(), and where the study tunes a key: every arm with every value on the tuning seeds,
/// then of every arm the best one on all seeds.
StudyOutcome run_with_tuning(const Study& study, const StudyOptions& options);

/// The study with a further arm `<arm>-tuned` for each: in each task the arm with the value whose
/// runs on the tuning seeds have the best validation figure, the mean over the seeds. Test sets
/// play no part. While values of an arm are still to be tried, or where all failed, the runs of its
/// further arm count as not started. What is found is in `tuning->best`, too. Throws
/// CheckpointError where a result.json is damaged.
Study with_tuned_arms(Study study, const StudyFolder& folder);

}  // namespace ablate::experiments
