#pragma once

#include <memory>
#include <optional>

#include "models/forward_context.h"
#include "models/kv_cache.h"
#include "models/linear.h"
#include "models/module.h"
#include "models/routing.h"
#include "models/transformer_options.h"

namespace ablate::models {

// F hidden width

/// A sub-layer that treats every position by itself, but for what limits the work of experts.
class FeedForward : public Module {
 public:
  virtual RoutedOutput forward(const torch::Tensor& x,
                               const ForwardContext& context) = 0;  // [B, T, D]
  /// What steps must know of earlier positions, before the first; `like` gives the batch.
  /// // [B, T, D]
  virtual KVCache empty_cache(const torch::Tensor& like) const;
  /// The same as `forward` for the positions that follow those of `cache`. // [B, T, D]
  virtual torch::Tensor step(const torch::Tensor& x, KVCache& cache, const ForwardContext& context);
};

/// A feed-forward of a layer of this stack; null: the layer has none.
std::shared_ptr<FeedForward> make_feed_forward(const FeedForwardOptions& options,
                                               const StackOptions& stack);

/// down(activation(up(x))) (Vaswani et al. 2017, section 3.3); gated: down(activation(gate(x)) *
/// up(x)), gate and up being one product (Shazeer 2020).
class Dense : public FeedForward {
 public:
  Dense(const DenseFeedForward& options, const StackOptions& stack);

  RoutedOutput forward(const torch::Tensor& x, const ForwardContext& context) override;

 private:
  Activation activation_;
  bool gated_;
  Linear up_, down_;
};

}  // namespace ablate::models
