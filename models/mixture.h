#pragma once

#include "models/feed_forward.h"
#include "models/router.h"

namespace ablate::models {

/// A mixture of experts: the sum of the chosen experts' outputs, each times its weight, and of the
/// shared experts' (Shazeer et al. 2017; Dai et al. 2024). Positions are sorted by expert, so each
/// expert is two matrix products whatever was chosen.
class Mixture : public FeedForward {
 public:
  Mixture(const MixtureOptions& options, const StackOptions& stack);

  torch::Tensor forward(const torch::Tensor& x, const Pass& pass) override;
  /// Called after an update with the positions that its batches sent to each expert. // [E]
  void learn(const torch::Tensor& counts) { router_->learn(counts); }
  /// Lays the first layers out for decoding; the weights must not change afterwards.
  void prepack();
  /// Experts that a position uses, the shared ones not counted.
  int64_t active() const { return options_.active; }

 private:
  // Experts and their weights are [N, k], slots with expert E empty.
  torch::Tensor with_room(const torch::Tensor& experts, const torch::Tensor& weights,
                          const torch::Tensor& real, bool trains) const;
  torch::Tensor through_experts(const torch::Tensor& sorted, const torch::Tensor& counts) const;
  torch::Tensor mixed(const torch::Tensor& flat, const torch::Tensor& experts,
                      const torch::Tensor& weights) const;
  torch::Tensor sorted_and_mixed(const torch::Tensor& flat, const torch::Tensor& experts,
                                 const torch::Tensor& weights) const;
  bool needs_real() const;

  MixtureOptions options_;
  std::shared_ptr<Router> router_;
  torch::Tensor up_, up_bias_;      // [E, F, D] or gated [E, 2F, D], [E, F or 2F]
  torch::Tensor up_packed_;         // undefined: not prepared
  torch::Tensor down_, down_bias_;  // [E, F, D], [E, D]
  std::shared_ptr<Dense> shared_;   // null: none
};

}  // namespace ablate::models
