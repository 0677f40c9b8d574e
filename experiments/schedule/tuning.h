#pragma once

#include "experiments/schedule/run_study.h"

namespace ablate::schedule {

/// run_study(), and where the study tunes a key: every arm with every value on the tuning seeds,
/// then of every arm the best one on all seeds.
StudyOutcome run_with_tuning(const config::Study& study, const StudyOptions& options);

}  // namespace ablate::schedule
