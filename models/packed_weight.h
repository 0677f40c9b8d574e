#pragma once

#include "models/libtorch.h"

namespace ablate::models {

/// What products of decoding are computed in.
enum class ProductType { float32, bfloat16, int8 };

/// A matrix laid out for products with few rows, as decoding has them. A copy: it does not follow
/// later changes of the weight.
class PackedWeight {
 public:
  PackedWeight(const torch::Tensor& weight, ProductType type);  // [N, K]
  /// Whether `multiply` can take x: float on the CPU, outside of gradients and traces.
  static bool serves(const torch::Tensor& x);
  /// x W^T + bias (or undefined). // [..., K] -> [..., N]
  torch::Tensor multiply(const torch::Tensor& x, const torch::Tensor& bias) const;

 private:
  ProductType type_;
  int64_t outputs_, width_;
  torch::Tensor panels_;
};

}  // namespace ablate::models
