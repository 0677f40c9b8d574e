#pragma once

#include "experiments/records/initial_weights.h"
#include "models/libtorch.h"

namespace ablate::run {

/// What the model's parameters are at this moment.
records::InitialWeights initial_weights_of(const torch::nn::Module& model);

}  // namespace ablate::run
