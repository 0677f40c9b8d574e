#pragma once

#include <string>

#include "experiments/result.h"

namespace ablate::experiments {

/// One test set's scores on one line, those that its kind of data has.
std::string score_line(const TestScores& scores);

}  // namespace ablate::experiments
