#pragma once

#include "models/libtorch.h"

namespace ablate::models::ops {

/// Whether our CPU kernels hold numbers of x's type where x lies: float or bfloat16.
bool has_cpu_kernel(const torch::Tensor& x);

/// Whether an operation with a gradient of its own may take x in this pass: one is recorded, and
/// not as a trace, which needs ATen's operators.
bool trains_on_cpu(const torch::Tensor& x);

/// Whether a CPU kernel without a gradient can take x, float rows that need not be contiguous, in
/// this pass: none is recorded, and a trace needs ATen's operators.
bool infers_on_cpu(const torch::Tensor& x);

}  // namespace ablate::models::ops
