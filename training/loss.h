#pragma once

#include "models/libtorch.h"

namespace ablate::training {

// N real target tokens, B batch, T target length, D model width, V vocabulary

/// Sums over real target tokens; nothing is divided before the update does it once.
struct Loss {
  torch::Tensor sum;  // [] label-smoothed cross-entropy, in nats
  torch::Tensor nll;  // [] -log p(target), no gradient: its mean's exponential is the perplexity
};

struct LossOptions {
  int64_t pad;
  double smoothing;
};

/// Label-smoothed cross-entropy of hidden W^T (Szegedy et al. 2016, as in Vaswani et al. 2017,
/// section 5.4): (1 - smoothing) nll + smoothing / V * sum over V of -log p. Padding targets count
/// nowhere.
/// // [B, T, D], [V, D], [B, T]
Loss cross_entropy(const torch::Tensor& hidden, const torch::Tensor& output_weight,
                   const torch::Tensor& target, LossOptions options);

}  // namespace ablate::training
