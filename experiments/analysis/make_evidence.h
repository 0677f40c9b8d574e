#pragma once

#include "experiments/analysis/evidence.h"
#include "experiments/config/study/study.h"
#include "experiments/records/result.h"

namespace ablate::analysis {

/// The evidence of `runs` on the study's question. Claims are made only of the primary metric on
/// the primary test sets, by exact sign-flip tests of differences paired by seed, Holm-corrected
/// over all comparisons of a task; beyond the trained length only if the task is learned within it.
/// Throws UsageError as check_fair().
Evidence make_evidence(const config::Study& study, const records::StudyRuns& runs);

}  // namespace ablate::analysis
