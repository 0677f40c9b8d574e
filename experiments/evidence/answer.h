#pragma once

#include <string>

#include "experiments/evidence/evidence.h"

namespace ablate::experiments {

/// What the claims amount to, a sentence for each task within the trained length and one beyond it,
/// with the arms' names and figures. Says nothing that no verdict supports.
std::string answer_of(const Evidence& evidence);

}  // namespace ablate::experiments
