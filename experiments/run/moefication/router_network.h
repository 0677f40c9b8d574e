#pragma once

#include "models/libtorch.h"
#include "models/router.h"

namespace ablate::run {

// N positions, E experts of f neurons, D model width

/// What the routers of a moefied layer need. // centres [E, D], first [E, D], second [E, E]
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
