#pragma once

#include <memory>
#include <optional>

#include "models/feed_forward/router.h"
#include "models/forward_context.h"
#include "models/kv_cache.h"
#include "models/linear.h"
#include "models/module.h"
#include "models/ops/expert_feed_forward.h"
#include "models/options/transformer_options.h"
#include "models/short_convolution.h"

namespace ablate::models {

// F hidden width

/// A sub-layer that treats every position separately; only a capacity limit of experts depends on
/// the others.
class FeedForward : public Module {
 public:
  /// Continues the sequences of `cache`; null: they are x and no more. // [B, T, D]
  virtual RoutedOutput forward(const torch::Tensor& x, const ForwardContext& context,
                               KVCache* cache = nullptr) = 0;
  /// The cache before the first position; `like` gives the batch. // [B, T, D]
  virtual KVCache empty_cache(const torch::Tensor& like) const;
};

/// The feed-forward of a layer of this stack, or null if the layer has no feed-forward.
std::shared_ptr<FeedForward> make_feed_forward(const LayerOptions& layer,
                                               const StackOptions& stack);

/// down(activation(up(x))) (Vaswani et al. 2017, section 3.3); gated: down(activation(gate(x)) *
/// up(x)), gate and up being one product (Shazeer 2020).
class Dense : public FeedForward {
 public:
  /// With a short convolution before the activation if `canon` has that place.
  Dense(const DenseFeedForward& options, const StackOptions& stack, const CanonOptions& canon = {});

  RoutedOutput forward(const torch::Tensor& x, const ForwardContext& context,
                       KVCache* cache = nullptr) override;
  KVCache empty_cache(const torch::Tensor& like) const override;

 private:
  Activation activation_;
  bool gated_;
  double dropout_;  // of the hidden layer
  Linear up_, down_;
  ShortConvolution canon_{nullptr};
};

/// A mixture of experts: the sum of the chosen experts' outputs, each times its weight, and of the
/// shared experts' (Shazeer et al. 2017; Dai et al. 2024).
class Mixture : public FeedForward {
 public:
  Mixture(const MixtureOptions& options, const StackOptions& stack);

  RoutedOutput forward(const torch::Tensor& x, const ForwardContext& context,
                       KVCache* cache = nullptr) override;
  KVCache empty_cache(const torch::Tensor& like) const override;
  /// Called after an update with the positions that its batches sent to each expert. // [E]
  void update_selection_bias(const torch::Tensor& counts) {
    router_->update_selection_bias(counts);
  }
  /// Repacks the first layers for decoding; the weights must not change afterwards.
  void prepack() { experts_ = experts_.prepacked(); }
  /// The number of experts that a position uses, and of all experts, without the shared ones.
  int64_t active() const { return options_.active; }
  int64_t experts() const { return options_.experts; }

 private:
  // Experts and their weights are [N, k], slots with expert E empty.
  torch::Tensor apply_capacity(const torch::Tensor& experts, const torch::Tensor& weights,
                               const torch::Tensor& company, double share) const;
  /// The same for sequences [B, T, ..] that are read from left to right: a position finds room if
  /// earlier ones have left some; later ones do not matter. `wanted` [B, E] counts earlier choices.
  torch::Tensor apply_capacity_so_far(const torch::Tensor& experts, const torch::Tensor& x,
                                      torch::Tensor& wanted) const;
  /// Share of the positions that an expert takes; nullopt: all that are routed to it.
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
