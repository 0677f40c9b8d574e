#pragma once

#include <vector>

#include "models/module.h"
#include "models/ops/linear.h"

namespace ablate::models {

/// What a projection computes in its sub-layer: a hidden layer, the output that is added to the
/// residual stream, queries (or gates as wide as the heads), one gate for each head, or queries and
/// keys with the values as the last part. Maximal-update parametrization scales each kind
/// differently.
enum class Projection { hidden, output, query, head_gate, qkv };

/// y = x W^T + b, computed in the element type of x: a bfloat16 input rounds the weights to
/// bfloat16 for the product while the parameters stay as they are. `parts` packs several
/// projections of the same input into one product; each is initialised as a separate matrix (Xavier
/// uniform), biases 0.
class LinearImpl : public Module {
 public:
  LinearImpl(int64_t width, const std::vector<int64_t>& parts, bool with_bias,
             Projection kind = Projection::hidden);

  torch::Tensor forward(const torch::Tensor& x) const;  // [..., width] -> [..., sum of parts]
  /// Keeps a copy of the weight for decoding; from then on the weight must not change.
  void prepack(WeightDtype dtype) { weight = weight.prepacked(dtype); }

  ops::LinearWeight weight;  // [sum of parts, width]
  torch::Tensor bias;        // [sum of parts] or undefined
};
TORCH_MODULE(Linear);

}  // namespace ablate::models
