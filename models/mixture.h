#pragma once

#include "models/feed_forward.h"
#include "models/ops/expert_feed_forward.h"
#include "models/router.h"

namespace ablate::models {

/// A mixture of experts: the sum of the chosen experts' outputs, each times its weight, and of the
/// shared experts' (Shazeer et al. 2017; Dai et al. 2024).
class Mixture : public FeedForward {
 public:
  Mixture(const MixtureOptions& options, const StackOptions& stack);

  RoutedOutput forward(const torch::Tensor& x, const ForwardContext& context) override;
  KVCache empty_cache(const torch::Tensor& like) const override;
  torch::Tensor step(const torch::Tensor& x, KVCache& cache,
                     const ForwardContext& context) override;
  /// Called after an update with the positions that its batches sent to each expert. // [E]
  void update_selection_bias(const torch::Tensor& counts) {
    router_->update_selection_bias(counts);
  }
  /// Lays the first layers out for decoding; the weights must not change afterwards.
  void prepack() { experts_ = experts_.prepacked(); }
  /// Experts that a position uses and that there are, the shared ones not counted.
  int64_t active() const { return options_.active; }
  int64_t experts() const { return options_.experts; }

 private:
  // Experts and their weights are [N, k], slots with expert E empty.
  RoutedOutput run(const torch::Tensor& x, const ForwardContext& context, KVCache& cache);
  torch::Tensor apply_capacity(const torch::Tensor& experts, const torch::Tensor& weights,
                               const torch::Tensor& company, double share) const;
  /// The same for sequences [B, T, ..] that are read from left to right: a position finds room if
  /// the earlier ones have left some, whatever comes later. `wanted` [B, E] counts what they chose.
  torch::Tensor apply_capacity_so_far(const torch::Tensor& experts, const torch::Tensor& x,
                                      torch::Tensor& wanted) const;
  /// Share of the positions that an expert takes; none: it takes all that are sent to it.
  std::optional<double> limit_of(const ForwardContext& context) const;
  bool limits_steps() const { return causal_ && limit_of({}); }
  torch::Tensor padding_mask_of(const torch::Tensor& x, const ForwardContext& context) const;

  MixtureOptions options_;
  bool causal_;
  std::shared_ptr<Router> router_;
  ops::Experts experts_;
  std::shared_ptr<Dense> shared_;  // null: none
};

}  // namespace ablate::models
