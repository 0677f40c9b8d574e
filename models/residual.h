#pragma once

#include <torch/torch.h>

#include "models/dropout.h"
#include "models/transformer_options.h"

namespace ablate::models {

/// Layer normalisation over the last dimension (Ba et al. 2016), epsilon 1e-5.
class NormImpl : public torch::nn::Module {
 public:
  explicit NormImpl(int64_t width);

  torch::Tensor forward(const torch::Tensor& x);  // [..., D] -> [..., D]
  /// forward(x + dropout(branch)) in one pass over memory where a CPU kernel can run.
  torch::Tensor after_sum(const torch::Tensor& x, const torch::Tensor& branch, Dropout& dropout);

  torch::Tensor weight;  // [D]
  torch::Tensor bias;    // [D]
};
TORCH_MODULE(Norm);

/// A sub-layer's place in the residual stream: where its input is normalised and how its output
/// joins. post (Vaswani et al. 2017, section 3.1): norm(x + dropout(f(x))); pre: x +
/// dropout(f(norm(x))).
template <class SubLayer>
torch::Tensor residual(const torch::Tensor& x, Norm& norm, NormPlacement placement,
                       Dropout& dropout, SubLayer&& sub_layer) {
  if (placement == NormPlacement::post) return norm->after_sum(x, sub_layer(x), dropout);
  return x + drop(sub_layer(norm(x)), dropout);
}

}  // namespace ablate::models
