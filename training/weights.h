#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "training/checkpoint/safetensors.h"

namespace ablate::training {

/// Parameters and buffers by name.
using Weights = Tensors;

/// The model's weights themselves, not copies.
Weights weights_of(const torch::nn::Module& model);

/// Copies each tensor of a checkpoint into the one of the same name. Throws c10::Error naming the
/// first one that is missing, surplus or of another shape; `kind` says what they are: "weight".
void load_tensors(const Tensors& own, const Tensors& saved, std::string_view kind);

/// Copies `weights` into the model, as load_tensors does.
void load_weights(const torch::nn::Module& model, const Weights& weights);

/// What is wrong with the first tensor that holds a number that is not finite, as "the weight 'w'
/// holds 2 numbers of 10 that are not finite"; nothing where all numbers are.
std::optional<std::string> not_finite(const Weights& weights);

/// Throws CheckpointError, naming `source`, where a number is not finite.
void require_finite(const Weights& weights, const std::string& source);

/// The mean of several models' weights, summed in double. REQUIRES: at least one.
Weights average(std::span<const Weights> models);

}  // namespace ablate::training
