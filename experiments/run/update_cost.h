#pragma once

#include <cstdint>

#include "data/batch_stream.h"
#include "experiments/config/schema/experiment.h"
#include "experiments/run/run_data.h"
#include "models/transformer.h"
#include "training/training_options.h"

namespace ablate::run {

/// The average cost of one update of a run, from the first batches of one epoch, the same ones for
/// every seed.
struct UpdateCost {
  double tokens = 0;       // predicted tokens, the end tokens included
  int64_t parameters = 0;  // of the model, each once
  double flops = 0;        // of the passes over its batches (models/transformer_flops.h)
};

/// The length of a run, and the average cost of its updates.
struct RunLength {
  int64_t updates = 0;
  UpdateCost cost;
};

/// The batches of an epoch that costs are counted and timed on.
data::BatchStream counted_batches(const config::Experiment& experiment, const RunData& data);

/// Updates at this cost that training.budget allows, at least one; `seconds` is the time of one.
int64_t updates_within(const training::TrainingOptions& options, const UpdateCost& cost,
                       double seconds);

/// The updates that training.budget allows. Their tokens or FLOPs, those of every update with its
/// own number of batches, length of rows and further heads, differ from the budget by at most one
/// update, if batches cost what those of counted_batches() do.
RunLength run_length(const config::Experiment& experiment, const RunData& data,
                     const models::TransformerImpl& model, double seconds);

}  // namespace ablate::run
