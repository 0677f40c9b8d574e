#pragma once

#include "experiments/analysis/evidence.h"
#include "experiments/config/study/study.h"
#include "experiments/records/result.h"

namespace ablate::analysis {

/// The evidence of the runs on the study's question, by curve at_vertices(). Claims are made only
/// of the primary metric on the primary test sets, by exact sign-flip tests of differences paired
/// by seed, Holm-corrected over all comparisons of a task; beyond the trained length only if the
/// task is learned within it. Throws UsageError as check_fair().
Evidence make_evidence(const config::Study& declared, const records::StudyRuns& all);

}  // namespace ablate::analysis
