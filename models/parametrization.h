#pragma once

#include "models/libtorch.h"
#include "models/stack_options.h"

namespace ablate::models {

/// Makes of every parameter below `stack`, as its module states it, what the stack's initialization
/// and parametrization make of it: how it starts, and how much wider its input is than at the base
/// width, by which optimizers choose its learning rate.
void parametrize(torch::nn::Module& stack, const StackOptions& options);

}  // namespace ablate::models
