#pragma once

#include "models/ops/packed_matrix.h"

namespace ablate::models::ops {

/// The products of kernel/packed_product.h with LibTorch's operators: weights and inputs are
/// rounded in the same way and multiplied in float. Null for fp32, where there is nothing to round.
std::shared_ptr<const PackedMatrix> round(const torch::Tensor& weight,
                                          WeightDtype dtype);  // [N, K]

}  // namespace ablate::models::ops
