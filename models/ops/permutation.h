#pragma once

#include "models/libtorch.h"

namespace ablate::models::ops {

// Of operations that a trace keeps for every length.

/// 0, 1, 2, ... in the length of x. // [M] -> [M]
torch::Tensor indices_of(const torch::Tensor& x);

/// Those that follow on `past`, which are 0, 1, 2, ..., in the length of x. // [P], [M] -> [M]
torch::Tensor indices_behind(const torch::Tensor& past, const torch::Tensor& x);

/// The inverse of a permutation. // [M] -> [M]
torch::Tensor inverse_permutation(const torch::Tensor& order);

/// How many of x are 0, 1, ..., count - 1. // [M] -> [count]
torch::Tensor bin_counts(const torch::Tensor& x, int64_t count);

}  // namespace ablate::models::ops
