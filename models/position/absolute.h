#pragma once

#include "models/position/position.h"

namespace ablate::models {

/// Vectors of the numbers `positions`, of any sign, in double. // [N] -> [N, width]
torch::Tensor sinusoidal(const torch::Tensor& positions, const Sinusoidal& options, int64_t width);

}  // namespace ablate::models
