#pragma once

#include <ATen/core/Tensor.h>

namespace fake_cuda {

bool on_device(const at::Tensor& tensor);  // an undefined tensor is not

/// The same memory as a tensor of the CPU, or the tensor itself where it lies there.
at::Tensor cpu_view(const at::Tensor& tensor);

/// A copy on the device, in the same layout.
at::Tensor device_copy(const at::Tensor& cpu);

/// While one lives, this thread is inside an operator: what it copies is not counted.
class InsideOperator {
 public:
  InsideOperator() { ++depth; }
  ~InsideOperator() { --depth; }
  InsideOperator(const InsideOperator&) = delete;
  InsideOperator& operator=(const InsideOperator&) = delete;

  static bool now() { return depth > 0; }

 private:
  static thread_local int depth;
};

}  // namespace fake_cuda
