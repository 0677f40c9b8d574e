#pragma once

#include <string>

#include "experiments/analysis/evidence.h"
#include "experiments/config/study/clause.h"

namespace ablate::analysis {

/// Checks one claim of the study against the means over the finished seeds. A claim whose arm,
/// metric or test set has no finished run does not hold.
Expectation check_clause(const config::Clause& clause, const Evidence& evidence);

/// Throws ExpectationFailed with the figures if an expectation does not hold.
void raise_failed(const std::vector<Expectation>& expectations);

/// The findings of the ladders, then a summary of the verdicts of each setting, with the arms'
/// names and figures; of many comparisons a sentence a line, and the inconclusive ones by name.
std::string answer_of(const Evidence& evidence);

}  // namespace ablate::analysis
