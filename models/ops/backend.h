#pragma once

#include "models/libtorch.h"

namespace ablate::models::ops {

/// Whether the CPU kernels of models/kernel are part of this build (CMake option ABLATE_KERNELS).
/// Without them LibTorch's own operators do the same.
#ifdef ABLATE_KERNELS
inline constexpr bool kHasKernels = true;
#else
inline constexpr bool kHasKernels = false;
#endif

/// Whether x lies on a CPU in one of the two types that are trained in there: float or bfloat16.
bool has_cpu_type(const torch::Tensor& x);

/// Whether an operation with a gradient of its own may take x, of such a type, in this pass: a
/// gradient is recorded, though not as a trace, which needs ATen's operators.
bool trains_on_cpu(const torch::Tensor& x);

/// Whether an operation without a gradient may take x, float on a CPU, in this pass: neither a
/// gradient nor a trace is recorded.
bool infers_on_cpu(const torch::Tensor& x);

/// Whether x lies on no CPU, in a pass that is not recorded as a trace: where every operator costs
/// a launch, fewer of them are worth a detour.
bool computes_elsewhere(const torch::Tensor& x);

/// Called at the start of a backward pass that is not itself differentiable: throws where its
/// gradient is to be recorded (create_graph), instead of treating it as a constant.
void refuse_second_derivative(const char* operation);

}  // namespace ablate::models::ops
