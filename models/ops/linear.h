#pragma once

#include "models/ops/packed_matrix.h"

namespace ablate::models::ops {

// K input width, N outputs

/// The matrix of a linear map, and perhaps a copy of it laid out for decoding.
struct LinearWeight {
  torch::Tensor dense;                         // [N, K]
  std::shared_ptr<const PackedMatrix> packed;  // null: none

  /// The same matrix with a copy in `dtype` that serves float products on the CPU where no gradient
  /// is recorded. REQUIRES: `dense` stays as it is, for the copy does not follow it.
  LinearWeight prepacked(WeightDtype dtype) const;
};

/// x W^T + bias, computed in the element type of x, to which weight and bias are rounded. `bias`
/// may be undefined. // [..., K], [N, K], [N] -> [..., N]
torch::Tensor linear(const torch::Tensor& x, const LinearWeight& weight,
                     const torch::Tensor& bias = {});

/// relu of the same, by one operator where no CPU computes.
torch::Tensor linear_relu(const torch::Tensor& x, const LinearWeight& weight,
                          const torch::Tensor& bias);

}  // namespace ablate::models::ops
