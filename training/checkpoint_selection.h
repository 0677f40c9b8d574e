#pragma once

#include <filesystem>
#include <string>

#include "training/training_options.h"
#include "training/weights.h"

namespace ablate::training {

/// Weights selected from a run's checkpoints, and how: "last", "best", "averaged" or "step 500".
struct SelectedWeights {
  std::string name;
  Weights weights;
};

/// `which` is best, last, averaged, a step, or empty for what the options ask for: the average of
/// the last `average` checkpoints, the exponential average, the best (with `patience`), or the
/// last. Throws CheckpointError where there is no such checkpoint.
SelectedWeights select_weights(const std::filesystem::path& checkpoints, const std::string& which,
                               const TrainingOptions& options);

}  // namespace ablate::training
