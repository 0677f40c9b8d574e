#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

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

/// `which` is best, last, averaged, a step, or empty for the choice of the options: the best (with
/// `patience`), the average of the last `average` checkpoints, the exponential average, or the
/// last; for a run that does not train, its only checkpoint. The best are the weights that were
/// validated at that step, so with `ema` or `average` the average as it was then. An average is
/// over the last multiples of `save_every`; other checkpoints are ignored. Adapters are merged
/// before anything is averaged. Throws CheckpointError if there is no such checkpoint, an average
/// lacks one, or a number is not finite.
SelectedWeights select_weights(const std::filesystem::path& checkpoints, const std::string& which,
                               const TrainingOptions& options);

/// The weights that another run starts from, by its `start`; `options` are those of the run that
/// has the checkpoints. Throws CheckpointError as select_weights().
SelectedWeights select_start(const std::filesystem::path& checkpoints, const InitFromOptions& start,
                             const TrainingOptions& options);

/// The steps of the last `count` checkpoints of `save_every` that a training of so many steps has
/// made, or of all if it has made fewer.
std::vector<int64_t> averaged_steps(int64_t steps, int64_t count, int64_t save_every);

/// A training's own weights after a step, on any device, with adapters.
struct StepWeights {
  int64_t step = 0;
  Weights weights;
};

/// The average over training.average checkpoints with which a run is evaluated that ends at `now`,
/// on the CPU: over those up to this step, or the weights themselves before the first one.
Weights average_at(const std::filesystem::path& checkpoints, const StepWeights& now,
                   const TrainingOptions& options);

/// The key of a checkpoint's state under which a run that is only evaluated records which weights
/// it has.
inline constexpr const char* kWeightsRecord = "weights";

}  // namespace ablate::training
