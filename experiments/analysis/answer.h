#pragma once

#include <string>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// A summary of the verdicts with the arms' names and figures, over the rungs of ladders along one
/// axis in a sentence for each arm; then the findings of the ladders. Of many comparisons a
/// sentence a line, and the inconclusive ones by name.
std::string answer_of(const Evidence& evidence);

}  // namespace ablate::analysis
