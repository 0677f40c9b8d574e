#pragma once

#include "models/libtorch.h"

namespace ablate::models::ops {

// T positions, H heads, K head width, R rotated pairs

/// Angles by which the first 2R dimensions of every query and key are turned (Su et al. 2021);
/// undefined tensors turn nothing.
struct Rotation {
  torch::Tensor cosine, sine;  // [T, R]
  bool interleaved = false;    // dimensions 2i and 2i + 1 are a pair; otherwise i and i + R
};

/// x turned, computed in float or wider. // [B, H, T, K] -> [B, H, T, K]
torch::Tensor rotate(const torch::Tensor& x, const Rotation& rotation);

}  // namespace ablate::models::ops
