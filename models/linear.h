#pragma once

#include <string_view>
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
  LinearImpl(int64_t width, int64_t outputs, bool with_bias, Projection kind = Projection::hidden)
      : LinearImpl(width, std::vector{outputs}, with_bias, kind) {}

  torch::Tensor forward(const torch::Tensor& x) const;  // [..., width] -> [..., sum of parts]
  /// Adds scale B A x to the output (LoRA, Hu et al. 2021, section 4.1), by the parameters lora_a,
  /// uniform within 1 / sqrt(width), and lora_b, which starts at 0. Like those of a new module,
  /// their values have to be drawn.
  void adapt(int64_t rank, double scale);
  /// The weight of forward(), with that of its adapter if there is one. // [sum of parts, width]
  torch::Tensor merged_weight() const;
  /// Multiplies these outputs, from `first` on, by multiplying their weights. REQUIRES: no adapter.
  /// // [outputs]
  void scale_outputs(int64_t first, const torch::Tensor& by);
  bool is_adapted() const { return lora_a_.defined(); }
  /// REQUIRES: is_adapted().
  int64_t adapter_rank() const { return lora_a_.size(0); }
  /// Says that the first part makes queries of this width, on which T5's initial values depend.
  void makes_queries(int64_t d_k);
  /// Keeps a copy of the weight for decoding; from then on the weight must not change.
  void prepack(WeightDtype dtype) { weight = weight.prepacked(dtype); }

  ops::LinearWeight weight;  // [sum of parts, width]
  torch::Tensor bias;        // [sum of parts] or undefined

 private:
  torch::Tensor lora_a_, lora_b_;  // [R, width] and [sum of parts, R], or undefined
  double lora_scale_ = 0;
};
TORCH_MODULE(Linear);

/// Whether this is the name of a parameter of an adapter.
inline bool is_adapter(std::string_view parameter) {
  return parameter.ends_with("lora_a") || parameter.ends_with("lora_b");
}

}  // namespace ablate::models
