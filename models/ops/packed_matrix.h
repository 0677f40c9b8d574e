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

}  // namespace ablate::models::ops
