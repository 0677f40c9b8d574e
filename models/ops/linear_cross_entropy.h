#pragma once

#include "models/ops/linear.h"

namespace ablate::models::ops {

// N rows, D model width, V vocabulary

struct CrossEntropyOptions {
  int64_t ignored;       // target of rows that do not count
  double smoothing = 0;  // share of the target distribution that is uniform
};

/// Sums over the rows that count, in nats.
struct CrossEntropy {
  torch::Tensor loss;  // (1 - smoothing) nll + smoothing / V * sum over V of -log p // []
  torch::Tensor nll;   // -log p(target), without a gradient // []
};

/// Label-smoothed cross-entropy (Szegedy et al. 2016, section 7) of the logits hidden W^T, which
/// never exist for more than a few million numbers at a time, nor does their gradient. Double
/// precision is the exception: LibTorch's own operators run, which can be differentiated again.
/// // [N, D], [V, D], [N]
CrossEntropy linear_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                  const torch::Tensor& target, const CrossEntropyOptions& options);

/// What a model says of given targets.
struct TargetScores {
  torch::Tensor nll;        // -log p(target), in float or wider; 0 where ignored // [N]
  torch::Tensor likeliest;  // whether no other id is likelier; false where ignored // [N]
};

/// The same logits' scores of single rows, without a gradient and in as little memory.
/// // [N, D], [V, D], [N]
TargetScores score_targets(const torch::Tensor& hidden, const LinearWeight& weight,
                           const torch::Tensor& target, int64_t ignored);

}  // namespace ablate::models::ops
