#pragma once

#include <cstdint>

#include "experiments/config/experiment.h"
#include "experiments/run/run_data.h"
#include "models/transformer.h"

namespace ablate::run {

/// What one update of a run costs on average, by the first batches of one epoch, the same ones for
/// every seed.
struct UpdateCost {
  double tokens = 0;  // that are predicted, the end tokens included
  double flops =
      0;  // three times those of a forward pass over its batches (models/transformer_flops.h)
};

UpdateCost update_cost(const config::Experiment& experiment, const RunData& data,
                       const models::TransformerImpl& model);

/// Seconds of an update in this process, timed for about a second. Changes `model`.
double seconds_per_update(const config::Experiment& experiment, const RunData& data,
                          training::Precision precision, models::Transformer model);

/// Updates that training.budget allows, at least one; `seconds` is what one takes.
int64_t updates_within(const training::TrainingOptions& options, const UpdateCost& cost,
                       double seconds);

}  // namespace ablate::run
