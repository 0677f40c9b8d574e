#pragma once

#include <memory>

#include "models/libtorch.h"
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
/// rounded in the same way and multiplied in float. Null for fp32, where there is nothing to round.
/// // [N, K]
std::shared_ptr<const PackedMatrix> round(const torch::Tensor& weight, WeightDtype dtype);

}  // namespace ablate::models::ops
