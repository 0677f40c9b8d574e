#pragma once

#include "models/libtorch.h"

namespace ablate::models::ops {

/// Whether a CPU kernel without a gradient can take x, float rows that need not be contiguous, in
/// this pass: none is recorded, and a trace needs ATen's operators.
bool infers_on_cpu(const torch::Tensor& x);

}  // namespace ablate::models::ops
