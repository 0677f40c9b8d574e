#pragma once

#include "models/libtorch.h"
#include "models/linear.h"
#include "models/transformer_options.h"

namespace ablate::models {

/// down(activation(up(x))), applied to every position alike (Vaswani et al. 2017, section 3.3);
/// gated: down(activation(gate(x)) * up(x)), gate and up being one product (Shazeer 2020).
class FeedForwardImpl : public torch::nn::Module {
 public:
  FeedForwardImpl(const DenseFeedForward& options, const StackOptions& stack);

  torch::Tensor forward(const torch::Tensor& x);  // [..., D] -> [..., D]

 private:
  Activation activation_;
  bool gated_;
  Linear up_, down_;
};
TORCH_MODULE(FeedForward);

}  // namespace ablate::models
