#pragma once

#include <memory>

#include "models/libtorch.h"
#include "models/linear.h"
#include "models/pass.h"
#include "models/transformer_options.h"

namespace ablate::models {

// F hidden width

/// A sub-layer that treats every position by itself.
class FeedForward : public torch::nn::Module {
 public:
  virtual torch::Tensor forward(const torch::Tensor& x,
                                const Pass& pass) = 0;  // [B, T, D] -> [B, T, D]
};

/// What layer number `layer`, from 0 on, has; null where it has none.
std::shared_ptr<FeedForward> make_feed_forward(const StackOptions& options, int64_t layer);

/// down(activation(up(x))) (Vaswani et al. 2017, section 3.3); gated: down(activation(gate(x)) *
/// up(x)), gate and up being one product (Shazeer 2020).
class Dense : public FeedForward {
 public:
  Dense(const DenseFeedForward& options, const StackOptions& stack);

  torch::Tensor forward(const torch::Tensor& x, const Pass& pass) override;

 private:
  Activation activation_;
  bool gated_;
  Linear up_, down_;
};

}  // namespace ablate::models
