#pragma once

#include <filesystem>

#include "experiments/result.h"
#include "models/libtorch.h"

namespace ablate::experiments {

/// What the model's parameters are at this moment.
InitialWeights initial_weights_of(const torch::nn::Module& model);

/// Keeps them in the run's folder, where a continued run finds what it started from.
void write_initial_weights(const RunFolder& folder, const torch::nn::Module& model);
/// Empty where the run was started by a version that did not keep them.
InitialWeights read_initial_weights(const RunFolder& folder);

}  // namespace ablate::experiments
