#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/training_options.h"

namespace ablate::config {

/// What a reader of the results of a run of `steps` updates should know of how it trains, though it
/// is no error: a sentence each, without its end.
std::vector<std::string> training_notes(const training::TrainingOptions& options, int64_t steps);

}  // namespace ablate::config
