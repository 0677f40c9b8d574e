#pragma once

#include "models/libtorch.h"

namespace ablate::models::ops {

/// Matrices of positive numbers whose rows sum to 1, and whose columns nearly do: exp(logits),
/// whose columns and then rows are divided by their sums in twenty rounds (Sinkhorn & Knopp 1967;
/// Xie et al. 2025, arXiv 2512.24880, section 4.2). Finite for any finite logits.
/// // [.., N, N] -> [.., N, N]
torch::Tensor doubly_stochastic(const torch::Tensor& logits);

}  // namespace ablate::models::ops
