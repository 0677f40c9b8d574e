#pragma once

#include <string>

#include "experiments/records/result.h"

namespace ablate::cli {

/// "3 % of the target tokens unknown"; empty if all are known.
std::string unknown_text(double share);

/// One test set's scores on one line, those that its kind of data has, and what they leave out.
std::string score_line(const records::TestScores& scores);

}  // namespace ablate::cli
