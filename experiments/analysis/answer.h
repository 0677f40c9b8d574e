#pragma once

#include <string>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// What the claims amount to, a sentence for each task within the trained length and one beyond it,
/// with the arms' names and figures. Says nothing that no verdict supports.
std::string answer_of(const Evidence& evidence);

}  // namespace ablate::analysis
