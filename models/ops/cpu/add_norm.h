#pragma once

#include "models/ops/add_norm.h"

namespace ablate::models::ops::cpu {

/// ops::add_norm in one pass over memory. REQUIRES: a bias; a norm in float.
torch::Tensor add_norm(const torch::Tensor& x, const torch::Tensor& branch, const LayerNorm& norm,
                       const DropoutStream& stream);

}  // namespace ablate::models::ops::cpu
