#pragma once

#include <filesystem>
#include <string>

#include "training/training_options.h"
#include "training/weights.h"

namespace ablate::training {

/// Weights selected from a run's checkpoints, and how: "last", "best", "average of 2 checkpoints
/// (steps 40 to 60)", "exponential average" or "step 500"; of a run that was only evaluated, what
/// it recorded.
struct SelectedWeights {
  std::string name;
  Weights weights;
};

/// `which` is best, last, averaged, a step, or empty for what the options ask for: the average of
/// the last `average` checkpoints, the exponential average, the best (with `patience`), or the
/// last; of a run that does not train the only ones. An average is of the last multiples of
/// `save_every`, whatever other checkpoints there are. Throws CheckpointError where there is no
/// such checkpoint, or an average lacks one.
SelectedWeights select_weights(const std::filesystem::path& checkpoints, const std::string& which,
                               const TrainingOptions& options);

/// Those that another run starts from, as `start` says; `options` are those of the run that has the
/// checkpoints. Throws CheckpointError where there are no such ones.
SelectedWeights select_start(const std::filesystem::path& checkpoints, const InitFromOptions& start,
                             const TrainingOptions& options);

/// Where a run that is only evaluated records in its checkpoint which weights these are.
inline constexpr const char* kWeightsRecord = "weights";

}  // namespace ablate::training
