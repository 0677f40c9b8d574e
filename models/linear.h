#pragma once

#include <vector>

#include "models/libtorch.h"

namespace ablate::models {

/// y = x W^T + b, computed in the element type of x: a bfloat16 input rounds the weights to
/// bfloat16 for the product while the parameters stay as they are. `parts` packs several
/// projections of the same input into one product; each is initialised as a matrix of its own
/// (Xavier uniform), biases 0.
class LinearImpl : public torch::nn::Module {
 public:
  LinearImpl(int64_t width, const std::vector<int64_t>& parts, bool with_bias);

  torch::Tensor forward(const torch::Tensor& x);  // [..., width] -> [..., sum of parts]

  torch::Tensor weight;  // [sum of parts, width]
  torch::Tensor bias;    // [sum of parts] or undefined
};
TORCH_MODULE(Linear);

}  // namespace ablate::models
