#pragma once

#include "models/ops/packed_matrix.h"

namespace ablate::models::ops::cpu {

std::shared_ptr<const PackedMatrix> pack(const torch::Tensor& weight, WeightDtype dtype);  // [N, K]

}  // namespace ablate::models::ops::cpu
