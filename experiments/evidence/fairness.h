#pragma once

#include <span>

#include "experiments/config/study.h"
#include "experiments/result.h"

namespace ablate::experiments {

/// Arms of a task that are compared have seen the same data and as many steps. Throws UsageError
/// where they have not and the study's compare.allow does not name it; a run that may stop early is
/// free to.
void check_fair(const Study& study, std::span<const RunResult> results);

}  // namespace ablate::experiments
