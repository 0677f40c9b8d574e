#pragma once

#include <filesystem>
#include <string>

#include "training/training_options.h"
#include "training/weights.h"

namespace ablate::training {

/// Weights selected from a run's checkpoints, and how: "last", "best", "average of 2 checkpoints
/// (steps 40 to 60)", "exponential average" or "step 500"; for a run that was only evaluated, the
/// name that it recorded.
struct SelectedWeights {
  std::string name;
  Weights weights;
};

/// `which` is best, last, averaged, a step, or empty for the choice of the options: the average of
/// the last `average` checkpoints, the exponential average, the best (with `patience`), or the
/// last; for a run that does not train, its only checkpoint. An average is over the last multiples
/// of `save_every`; other checkpoints are ignored. Adapters are merged, those of an exponential
/// average by the averages of their factors. Throws CheckpointError if there is no such checkpoint,
/// or an average lacks one.
SelectedWeights select_weights(const std::filesystem::path& checkpoints, const std::string& which,
                               const TrainingOptions& options);

/// The weights that another run starts from, by its `start`; `options` are those of the run that
/// has the checkpoints. Throws CheckpointError if there are none.
SelectedWeights select_start(const std::filesystem::path& checkpoints, const InitFromOptions& start,
                             const TrainingOptions& options);

/// The key of a checkpoint's state under which a run that is only evaluated records which weights
/// it has.
inline constexpr const char* kWeightsRecord = "weights";

}  // namespace ablate::training
