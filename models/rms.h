#pragma once

#include <ATen/ops/rms_norm.h>

#include "models/libtorch.h"

namespace ablate::models {

/// Vectors of mean square 1 in the direction of x (Zhang & Sennrich 2019, without learned factors);
/// zeros stay. // [..., D] -> [..., D]
inline torch::Tensor rms(const torch::Tensor& x) {
  constexpr double kEpsilon = 1e-6;  // of a mean square
  return at::rms_norm(x, {x.size(-1)}, {}, kEpsilon);
}

}  // namespace ablate::models
