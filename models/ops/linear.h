#pragma once

#include <memory>

#include "models/libtorch.h"
#include "models/options/feed_forward_options.h"
#include "models/weight_dtype.h"

namespace ablate::models::ops {

/// A copy of a matrix laid out for products with few rows, as decoding has them.
class PackedMatrix {
 public:
  virtual ~PackedMatrix() = default;
  /// x W^T + bias for contiguous float x on the CPU. `bias` may be undefined.
  /// // [..., K], [N] -> [..., N]
  virtual torch::Tensor multiply(const torch::Tensor& x, const torch::Tensor& bias) const = 0;
};

/// x with every number rounded to the nearest of bfloat16, in float. // [...] -> [...]
inline torch::Tensor to_bfloat16(const torch::Tensor& x) {
  return x.to(torch::kBFloat16).to(torch::kFloat);
}

/// The products of kernel/packed_product.h with LibTorch's operators: weights and inputs are
/// rounded in the same way and multiplied in float. Null for fp32, which needs no rounding.
/// // [N, K]
std::shared_ptr<const PackedMatrix> round(const torch::Tensor& weight, WeightDtype dtype);

// K input width, N outputs

/// The matrix of a linear map, and perhaps a copy of it laid out for decoding.
struct LinearWeight {
  torch::Tensor dense;                         // [N, K]
  std::shared_ptr<const PackedMatrix> packed;  // null: none

  /// The same matrix with a copy in `dtype` for float products on the CPU without a gradient.
  /// REQUIRES: `dense` does not change afterwards.
  LinearWeight prepacked(WeightDtype dtype) const;
};

/// x W^T + bias, computed in the element type of x, to which weight and bias are rounded. `bias`
/// may be undefined. // [..., K], [N, K], [N] -> [..., N]
torch::Tensor linear(const torch::Tensor& x, const LinearWeight& weight,
                     const torch::Tensor& bias = {});

/// relu of the same, by one operator on a GPU.
torch::Tensor linear_relu(const torch::Tensor& x, const LinearWeight& weight,
                          const torch::Tensor& bias);

/// A feed-forward's hidden layer from its products: activation(x), or gated, with the gates in the
/// first half, activation(gate) * up (Shazeer 2020). // [..., F], gated [..., 2F] -> [..., F]
torch::Tensor hidden_layer(const torch::Tensor& products, Activation activation, bool gated);

}  // namespace ablate::models::ops
