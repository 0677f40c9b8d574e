#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/transformer.h"
#include "training/training_options.h"

namespace ablate::training {

/// Whether `words` are the name or whole words of it: "layers.3" of "decoder.layers.3.norm".
bool is_named(std::string_view name, std::string_view words);

/// Why the options cannot choose the weights of this model that are trained: a name that it does
/// not have, or nothing that is left to train. Empty if the run does not train.
std::vector<TrainingProblem> part_problems(const models::TransformerImpl& model,
                                           const TrainingOptions& options);

/// Freezes the weights that the options name: they require no gradient. REQUIRES: part_problems()
/// is empty.
void freeze_parts(models::TransformerImpl& model, const TrainingOptions& options);

/// The number of parameters that require a gradient, shared ones once.
int64_t trained_parameter_count(const torch::nn::Module& model);

}  // namespace ablate::training
