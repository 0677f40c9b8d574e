#pragma once

#include <optional>
#include <vector>

#include "models/libtorch.h"
#include "models/packed_weight.h"

namespace ablate::models {

/// y = x W^T + b, computed in the element type of x: a bfloat16 input rounds the weights to
/// bfloat16 for the product while the parameters stay as they are. `parts` packs several
/// projections of the same input into one product; each is initialised as a matrix of its own
/// (Xavier uniform), biases 0.
class LinearImpl : public torch::nn::Module {
 public:
  LinearImpl(int64_t width, const std::vector<int64_t>& parts, bool with_bias);

  torch::Tensor forward(const torch::Tensor& x);  // [..., width] -> [..., sum of parts]
  /// Keeps a copy of the weight as decoding wants it; from then on the weight must not change.
  void pack(ProductType type) { packed_.emplace(weight, type); }

  torch::Tensor weight;  // [sum of parts, width]
  torch::Tensor bias;    // [sum of parts] or undefined

 private:
  std::optional<PackedWeight> packed_;
};
TORCH_MODULE(Linear);

}  // namespace ablate::models
