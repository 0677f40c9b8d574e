#pragma once

#include <cstdint>

#include "models/feed_forward/router.h"
#include "models/libtorch.h"

namespace ablate::run {

// F neurons of a hidden layer, E groups of exactly F / E each, D input width, N positions. The
// results hold the neurons of group 0, then of group 1, and so on. // [F] REQUIRES: E divides F;
// tensors are on the CPU, as the results are.

/// Neurons in a random order.
torch::Tensor random_groups(int64_t neurons, uint64_t seed);

/// Neurons with like input weights: k-means over the rows divided by their lengths, with groups of
/// one size in every round; the best of a hundred rounds (Zhang et al. 2022, parameter clustering).
torch::Tensor clustered_groups(const torch::Tensor& up, int64_t groups, uint64_t seed);  // [F, D]

/// Neurons that are active together: groups grown and then improved by swaps so that the products
/// of activities fall within them (Zhang et al. 2022, co-activation graph).
torch::Tensor coactive_groups(const torch::Tensor& hidden, int64_t groups);  // after ReLU // [N, F]

// N positions, E experts of f neurons, D model width

/// Parameters of the routers of a moefied layer. // centres [E, D], first [E, D], second [E, E]
struct RouterNetwork {
  torch::Tensor centres, first, second;

  /// How a router of this kind ranks the experts; the oracle ranks by `mass`, their activity.
  /// // [N, D], [N, E] -> [N, E]
  torch::Tensor scores(const models::RouterOptions& kind, const torch::Tensor& x,
                       const torch::Tensor& mass) const;
};

struct RouterTask {
  torch::Tensor x;            // [N, D]
  torch::Tensor up, up_bias;  // [E, f, D], [E, f] or undefined
  int64_t active;
  uint64_t seed;
};

/// The groups' mean directions, and a network trained to tell which experts are most active: binary
/// cross-entropy against each expert's activity over the largest, 30 epochs of Adam at 0.01 in
/// batches of 512, from the centres and the identity; the epoch that captures most activity on a
/// tenth held out (Zhang et al. 2022, section 3.3 and the authors' code).
RouterNetwork fit_router(const RouterTask& task);

/// Share of all activity that the `active` experts of the highest scores have. // [N, E], [N, E]
double captured_mass(const torch::Tensor& scores, const torch::Tensor& mass, int64_t active);

}  // namespace ablate::run
