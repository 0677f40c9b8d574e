#pragma once

#include "experiments/analysis/evidence.h"
#include "experiments/config/clause.h"

namespace ablate::analysis {

/// Holds one claim of the study against the means over the finished seeds. One whose arm, metric or
/// test set has no finished run does not hold.
Expectation check_clause(const config::Clause& clause, const Evidence& evidence);

/// Throws ExpectationFailed with the figures where one does not hold.
void raise_failed(const std::vector<Expectation>& expectations);

}  // namespace ablate::analysis
