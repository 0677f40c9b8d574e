#pragma once

#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// A sentence for each arm of which the study says what is published, or by whom: the statement,
/// its source and the outcomes of the arm's claim.
std::vector<std::string> statement_notes(const Evidence& evidence);

}  // namespace ablate::analysis
