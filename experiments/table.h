#pragma once

#include <span>
#include <string>

#include "experiments/result.h"

namespace ablate::experiments {

/// The study's results as plain text: per task and arm parameters, training loss and validation
/// perplexity, and per test set lengths in pieces and scores, in and beyond the trained length.
/// With several seeds each figure is mean ± standard deviation. Ends with what the table does not
/// support.
std::string table(std::span<const RunResult> results);

/// One test set's scores on one line, those that its kind of data has.
std::string score_line(const TestScores& scores);

}  // namespace ablate::experiments
