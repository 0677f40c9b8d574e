#pragma once

#include <map>
#include <span>
#include <string>

#include "models/libtorch.h"

namespace ablate::training {

/// Parameters and buffers by name.
using Weights = std::map<std::string, torch::Tensor>;

/// The model's weights themselves, not copies.
Weights weights_of(const torch::nn::Module& model);

/// Copies `weights` into the model; throws c10::Error naming the first one that is missing, surplus
/// or of another shape.
void load_weights(torch::nn::Module& model, const Weights& weights);

/// The mean of several models' weights, summed in double. REQUIRES: at least one.
Weights average(std::span<const Weights> models);

}  // namespace ablate::training
