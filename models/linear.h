#pragma once

#include <vector>

#include "models/module.h"
#include "models/ops/linear.h"

namespace ablate::models {

/// What a projection is in its sub-layer: the last one's output is added to the residual stream,
/// scores (queries, keys, gates) weigh values, gates are scores whose number does not grow with the
/// width, and of scores_and_value the last part is values.
enum class InBranch { inside, last, scores, gates, scores_and_value };

/// y = x W^T + b, computed in the element type of x: a bfloat16 input rounds the weights to
/// bfloat16 for the product while the parameters stay as they are. `parts` packs several
/// projections of the same input into one product; each is initialised as a matrix of its own
/// (Xavier uniform), biases 0.
class LinearImpl : public Module {
 public:
  LinearImpl(int64_t width, const std::vector<int64_t>& parts, bool with_bias,
             InBranch place = InBranch::inside);

  torch::Tensor forward(const torch::Tensor& x) const;  // [..., width] -> [..., sum of parts]
  /// Keeps a copy of the weight as decoding wants it; from then on the weight must not change.
  void prepack(WeightDtype dtype) { weight = weight.prepacked(dtype); }

  ops::LinearWeight weight;  // [sum of parts, width]
  torch::Tensor bias;        // [sum of parts] or undefined
};
TORCH_MODULE(Linear);

}  // namespace ablate::models
