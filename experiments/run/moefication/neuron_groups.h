#pragma once

#include <cstdint>

#include "models/libtorch.h"

namespace ablate::run {

// F neurons of a hidden layer, E groups of exactly F / E each, D input width, N positions. The
// results hold the neurons of group 0, then of group 1, and so on. // [F]
// REQUIRES: E divides F; tensors lie on the CPU, as the results do.

/// Neurons in a random order.
torch::Tensor random_groups(int64_t neurons, uint64_t seed);

/// Neurons with like input weights: k-means over the rows divided by their lengths, with groups of
/// one size in every round; the best of a hundred rounds (Zhang et al. 2022, parameter clustering).
torch::Tensor clustered_groups(const torch::Tensor& up, int64_t groups, uint64_t seed);  // [F, D]

/// Neurons that are active together: groups grown and then improved by swaps so that the products
/// of activities fall within them (Zhang et al. 2022, co-activation graph).
torch::Tensor coactive_groups(const torch::Tensor& hidden, int64_t groups);  // after ReLU // [N, F]

}  // namespace ablate::run
