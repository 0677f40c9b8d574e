#pragma once

#include <ATen/Parallel.h>

#include "models/kernel/simd.h"
#include "models/libtorch.h"

namespace ablate::models::ops::cpu {

/// Storage of a contiguous or row-strided tensor as the kernels name its element type.
template <class T>
T* pointer(const torch::Tensor& x) {
  return static_cast<T*>(x.data_ptr());
}

/// Calls `body` with a value of the kernel's element type for `type`: float or bfloat16.
template <class Body>
void with_type(torch::ScalarType type, Body&& body) {
  if (type == torch::kFloat) return body(float{});
  if (type == torch::kBFloat16) return body(kernel::Bfloat16{});
  TORCH_CHECK(false, "no CPU kernel for ", type);
}

/// Rows per task: every task has some tens of thousands of elements to work on.
inline int64_t grain(int64_t width) {
  return std::max<int64_t>(1, 32'768 / std::max<int64_t>(1, width));
}

}  // namespace ablate::models::ops::cpu
