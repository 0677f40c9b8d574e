#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/transformer.h"
#include "training/training_options.h"
#include "training/weights.h"

namespace ablate::training {

/// Why the options cannot choose the weights of this model that are trained: a name that it does
/// not have, nothing that is left to train, an adapter as large as its matrix. Empty if the run
/// does not train.
std::vector<TrainingProblem> part_problems(const models::TransformerImpl& model,
                                           const TrainingOptions& options);

/// Freezes weights, so that they require no gradient: those that the options name or, with
/// adapters, which are added here and drawn by `seed`, all others that they do not name. REQUIRES:
/// part_problems() is empty.
void choose_parts(models::TransformerImpl& model, const TrainingOptions& options, uint64_t seed);

/// The weights of a model without adapters that computes the same: W + alpha / rank B A, computed
/// in double.
Weights merge_adapters(Weights weights, const LoraOptions& lora);

/// The number of parameters that require a gradient, shared ones once.
int64_t trained_parameter_count(const torch::nn::Module& model);

}  // namespace ablate::training
