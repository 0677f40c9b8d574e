#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "models/ops/linear.h"

namespace ablate::models::ops {

// N tokens, in the shape of the targets; D model width, V vocabulary

/// A map of hidden vectors to logits: h W^T + bias, capped. A matrix by itself is one without a
/// bias.
struct OutputMap {
  OutputMap() = default;
  OutputMap(LinearWeight matrix, torch::Tensor vector = {}, double cap = 0)
      : weight(std::move(matrix)), bias(std::move(vector)), softcap(cap) {}
  OutputMap(torch::Tensor matrix, torch::Tensor vector = {}, double cap = 0)
      : OutputMap(LinearWeight{.dense = std::move(matrix), .packed = nullptr}, std::move(vector),
                  cap) {}

  LinearWeight weight;  // [V, D]
  torch::Tensor bias;   // [V] or undefined
  double softcap = 0;   // of the logits; 0: none
};

/// softcap * tanh(x / softcap) (Gemma Team 2024, Gemma 2, section 2); x if softcap is 0.
torch::Tensor capped(const torch::Tensor& x, double softcap);

struct CrossEntropyOptions {
  int64_t ignored;       // id, as of padding, of targets that do not count
  double smoothing = 0;  // share of the target distribution that is uniform
  double z = 0;          // factor of the squared logarithm of the softmax's denominator
  /// If given, targets that count are drawn by it from the softmax instead.
  std::optional<uint64_t> draw_seed = {};
};

/// Sums over the tokens that count, in nats.
struct CrossEntropy {
  /// (1 - smoothing) nll + smoothing / V * sum over V of -log p + z log^2 sum over V of e^logit. //
  /// []
  torch::Tensor loss;
  torch::Tensor nll;  // -log p(target), without a gradient: its mean is log perplexity // []
};

/// Label-smoothed cross-entropy (Szegedy et al. 2016, section 7, as in Vaswani et al. 2017, section
/// 5.4), with the z-loss of PaLM (Chowdhery et al. 2022, section 5), of the logits, which never
/// exist for more than a few million numbers at a time (tens of millions on a device that is no
/// CPU), nor does their gradient. Double precision is the exception: LibTorch's own operators run,
/// which can be differentiated again.
/// // [..., D], [V, D], [...]
CrossEntropy linear_cross_entropy(const torch::Tensor& hidden, const OutputMap& output,
                                  const torch::Tensor& target, const CrossEntropyOptions& options);

/// Scores of given targets.
struct TargetScores {
  torch::Tensor nll;        // -log p(target), in float or wider; 0 if ignored // [...]
  torch::Tensor likeliest;  // whether no other id is likelier; false if ignored // [...]
};

/// The same logits' scores of single tokens, without a gradient and in as little memory.
/// // [..., D], [V, D], [...]
TargetScores score_targets(const torch::Tensor& hidden, const OutputMap& output,
                           const torch::Tensor& target, int64_t ignored);

}  // namespace ablate::models::ops
