#pragma once

#include <cstdint>
#include <vector>

#include "experiments/config/study.h"
#include "experiments/evidence/evidence.h"

namespace ablate::experiments {

/// The first test set's cell of `metric` that is not longer than anything in training; null where
/// there is none.
const Cell* cell_within(const ArmEvidence& arm, const std::string& metric);

/// Compares every arm of the task with the baseline: contrasts, Holm's correction, verdicts.
void add_claims(TaskEvidence& task, const Comparison& comparison,
                const std::vector<int64_t>& seeds);

}  // namespace ablate::experiments
