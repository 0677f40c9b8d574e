#pragma once

#include "experiments/analysis/evidence.h"
#include "experiments/config/study/study.h"
#include "experiments/records/result.h"

namespace ablate::analysis {

/// What `runs` say about the study's question. Claims are made of the primary metric on the primary
/// test sets alone, by exact sign-flip tests of differences paired by seed, Holm-corrected over all
/// of a task; beyond the trained length only where the task is learned within it. Throws
/// UsageError where arms of a task trained on other data or for other numbers of steps and the
/// study does not allow it.
Evidence make_evidence(const config::Study& study, const records::StudyRuns& runs);

}  // namespace ablate::analysis
