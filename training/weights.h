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

/// What names of the exponential average begin with in a checkpoint.
inline constexpr const char* kShadow = "shadow.";

/// shadow = decay * shadow + (1 - decay) * weights, in place; whole numbers are taken over.
void follow(Weights& shadow, const Weights& weights, double decay);

/// Copies that share no memory with `weights`.
Weights copy(const Weights& weights);

}  // namespace ablate::training
