#pragma once

#include <filesystem>
#include <ostream>
#include <vector>

#include "experiments/result.h"
#include "experiments/run_one.h"

namespace ablate::experiments {

/// Reads the run's data, trains, validates as often as the run would and evaluates the last
/// weights, in the fewest lines that do so: no log, no checkpoint, no progress, nothing written.
/// What the laboratory costs is measured against this; the last weights are the run's, bit for bit.
/// Throws UsageError for a run that starts from another, has word vectors or a budget in another
/// unit than steps, and DataError, TokenizerError.
std::vector<TestScores> train_bare(const RunSpecification& run, const RunPlace& place,
                                   std::ostream& messages);

}  // namespace ablate::experiments
