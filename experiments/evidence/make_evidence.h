#pragma once

#include "experiments/config/study.h"
#include "experiments/evidence/evidence.h"
#include "experiments/evidence/study_runs.h"

namespace ablate::experiments {

/// What `runs` say about the study's question. Claims are made of the primary metric on the primary
/// test sets alone, by exact sign-flip tests of differences paired by seed, Holm-corrected over all
/// of a task; beyond the trained length only where the task is learned within it. Throws
/// UsageError where arms of a task trained on other data or for other numbers of steps and the
/// study does not allow it.
Evidence make_evidence(const Study& study, const StudyRuns& runs);

}  // namespace ablate::experiments
