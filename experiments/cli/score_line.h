#pragma once

#include <string>

#include "experiments/records/result.h"

namespace ablate::cli {

/// One test set's scores on one line, those that its kind of data has, and what they leave out.
std::string score_line(const records::TestScores& scores);

}  // namespace ablate::cli
