#pragma once

#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/config/study/clause.h"

namespace ablate::analysis {

/// Checks one claim of the study against the means over the finished seeds. A claim whose arm,
/// metric or test set has no finished run does not hold.
Expectation check_clause(const config::Clause& clause, const Evidence& evidence);

/// Throws ExpectationFailed with the figures if an expectation does not hold.
void raise_failed(const std::vector<Expectation>& expectations);

}  // namespace ablate::analysis
