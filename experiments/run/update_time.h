#pragma once

#include "experiments/config/schema/experiment.h"
#include "experiments/run/run_data.h"
#include "models/transformer.h"
#include "training/training_options.h"

namespace ablate::run {

/// Seconds of an update in this process without other ranks, by graphs if such a training has them;
/// timed for about a second. Draws the weights of `model` and changes them.
double seconds_per_update(const config::Experiment& experiment, const RunData& data,
                          training::Precision precision, models::Transformer model);

}  // namespace ablate::run
