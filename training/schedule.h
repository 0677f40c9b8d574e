#pragma once

#include <cstdint>

#include "training/training_options.h"

namespace ablate::training {

/// Learning rate of update `step` (the first is 1) of `steps`: a pure function, so that resuming
/// needs no state. Every schedule rises linearly to its peak at step `warmup`.
double learning_rate(const ScheduleOptions& schedule, int64_t step, int64_t steps);

// The options of one update with the changes of all its stages, see UpdateStage.
int64_t batches_at(const TrainingOptions& options, const UpdatePlace& now);
double mean_batches(const TrainingOptions& options);
int64_t row_length_at(const TrainingOptions& options, const UpdatePlace& now, int64_t longest);
int64_t heads_at(const TrainingOptions& options, const UpdatePlace& now, int64_t heads);

/// Passes over each batch of update `step`: one, and one more to learn the curvature.
int64_t passes_at(const TrainingOptions& options, int64_t step);
/// Their mean over a long training.
double mean_passes(const TrainingOptions& options);

}  // namespace ablate::training
