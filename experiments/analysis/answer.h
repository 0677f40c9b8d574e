#pragma once

#include <string>

#include "experiments/analysis/evidence.h"
#include "experiments/config/study/clause.h"

namespace ablate::analysis {

/// Holds one claim of the study against the means over the finished seeds. One whose arm, metric or
/// test set has no finished run does not hold.
Expectation check_clause(const config::Clause& clause, const Evidence& evidence);

/// Throws ExpectationFailed with the figures where one does not hold.
void raise_failed(const std::vector<Expectation>& expectations);

/// What the claims amount to, a sentence for each task within the trained length and one beyond it,
/// with the arms' names and figures. Says nothing that no verdict supports.
std::string answer_of(const Evidence& evidence);

}  // namespace ablate::analysis
