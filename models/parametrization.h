#pragma once

#include "models/module.h"
#include "models/options/transformer_options.h"

namespace ablate::models {

/// Sets the initial distribution of every parameter below `stack` by the stack's initialization and
/// parametrization, and the ratio of its input width to the base width, by which optimizers choose
/// its learning rate.
void parametrize(torch::nn::Module& stack, const StackOptions& options);

/// How an embedding or the output of a model starts.
Initializer start_of_table(const TransformerOptions& options, Role role);

}  // namespace ablate::models
