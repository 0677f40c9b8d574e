#pragma once

#include <ATen/core/Generator.h>

#include "models/libtorch.h"

namespace ablate::models {

/// A generator of `device` that starts from `seed`. The ambient generator is left as it is.
at::Generator seeded_generator(uint64_t seed, const torch::Device& device = torch::kCPU);

}  // namespace ablate::models
