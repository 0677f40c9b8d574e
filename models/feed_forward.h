#pragma once

#include <torch/torch.h>

#include "models/linear.h"
#include "models/transformer_options.h"

namespace ablate::models {

/// down(activation(up(x))), applied to every position alike (Vaswani et al. 2017, section 3.3).
class FeedForwardImpl : public torch::nn::Module {
 public:
  FeedForwardImpl(const DenseFeedForward& options, int64_t d_model);

  torch::Tensor forward(const torch::Tensor& x);  // [..., D] -> [..., D]

 private:
  Activation activation_;
  Linear up_, down_;
};
TORCH_MODULE(FeedForward);

}  // namespace ablate::models
