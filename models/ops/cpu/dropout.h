#pragma once

#include "models/ops/dropout.h"

namespace ablate::models::ops::cpu {

/// x with the mask's elements dropped. REQUIRES: contiguous, float or bfloat16. // [..., D]
torch::Tensor drop_rows(const torch::Tensor& x, const DropoutMask& mask);

}  // namespace ablate::models::ops::cpu
