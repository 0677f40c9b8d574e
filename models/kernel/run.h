#pragma once

#include <ATen/Parallel.h>
#include <torch/csrc/jit/frontend/tracer.h>

#include "models/kernel/vector_math.h"
#include "models/libtorch.h"

namespace ablate::models::kernel {

/// Storage of a contiguous or row-strided tensor as the kernels name its element type.
template <class T>
T* pointer(const torch::Tensor& x) {
  return static_cast<T*>(x.data_ptr());
}

/// Calls `body` with a value of the kernel's element type for `type`: float or bfloat16.
template <class Body>
void with_type(torch::ScalarType type, Body&& body) {
  if (type == torch::kFloat) return body(float{});
  if (type == torch::kBFloat16) return body(Bfloat16{});
  TORCH_CHECK(false, "no CPU kernel for ", type);
}

/// Whether a float kernel without a gradient can serve this pass: a trace needs ATen's operators.
inline bool serves_strided(const torch::Tensor& x) {
  return !torch::GradMode::is_enabled() && !torch::jit::tracer::isTracing() &&
         x.device().is_cpu() && x.scalar_type() == torch::kFloat;
}
/// The same for kernels that want their input in one piece.
inline bool serves(const torch::Tensor& x) { return serves_strided(x) && x.is_contiguous(); }

/// Rows per task: every task has some tens of thousands of elements to work on.
inline int64_t grain(int64_t width) {
  return std::max<int64_t>(1, 32'768 / std::max<int64_t>(1, width));
}

}  // namespace ablate::models::kernel
