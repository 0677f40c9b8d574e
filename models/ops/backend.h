#pragma once

#include "models/libtorch.h"

namespace ablate::models::ops {

// Of operations with their own gradient.
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Whether the CPU kernels of models/kernel are part of this build (CMake option ABLATE_KERNELS).
/// Without them LibTorch's own operators do the same.
#ifdef ABLATE_KERNELS
inline constexpr bool kHasKernels = true;
#else
inline constexpr bool kHasKernels = false;
#endif

/// Whether x is on a CPU in one of the two types that are trained in there: float or bfloat16.
bool has_cpu_type(const torch::Tensor& x);

/// Whether updates change this parameter.
bool is_trained(const torch::Tensor& parameter);

/// Whether an operation with its own gradient may take x, of such a type, in this pass: autograd
/// records, but no trace, which needs ATen's operators.
bool trains_on_cpu(const torch::Tensor& x);

/// Whether an operation without a gradient may take x, float on a CPU, in this pass: neither
/// autograd nor a trace records.
bool infers_on_cpu(const torch::Tensor& x);

/// Whether x is on a GPU, in a pass that is not traced: there every operator costs a launch, so
/// that fewer operators pay off.
bool computes_elsewhere(const torch::Tensor& x);

/// The `most` positions that are computed at once, or in a trace all `positions`, since it would
/// repeat the number of parts of its example.
int64_t positions_at_once(int64_t most, int64_t positions);

/// x, which is on the CPU, on `device`: on a GPU by way of pinned memory, so that nobody waits.
torch::Tensor to_device(const torch::Tensor& x, torch::Device device);

/// Called at the start of a backward pass that is not itself differentiable: throws under
/// create_graph instead of treating the gradient as a constant.
void refuse_second_derivative(const char* operation);

}  // namespace ablate::models::ops
