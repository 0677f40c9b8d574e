// Operators that make, view, resize and copy tensors of the device.
#include "tests/device/fake_cuda/tensors.h"

#include <ATen/EmptyTensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_local_scalar_dense.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include "tests/device/fake_cuda/counts.h"
#include "tests/device/fake_cuda/memory.h"
#include "tests/device/fake_cuda/recording.h"

namespace fake_cuda {

thread_local int InsideOperator::depth = 0;

bool on_device(const at::Tensor& tensor) { return tensor.defined() && tensor.is_cuda(); }

at::Tensor cpu_view(const at::Tensor& tensor) {
  if (!on_device(tensor)) return tensor;
  const auto* base = static_cast<const char*>(tensor.storage().data());
  char* data = nullptr;
  if (base != nullptr)
    data = Memory::instance().host_address(base) +
           tensor.storage_offset() * static_cast<int64_t>(tensor.element_size());
  return at::from_blob(
      data, tensor.sizes(), tensor.strides(), [keep = tensor.storage()](void*) {},
      at::TensorOptions(tensor.scalar_type()));
}

at::Tensor device_copy(const at::Tensor& cpu) {
  auto copy = at::empty_strided(cpu.sizes(), cpu.strides(), cpu.options().device(at::kCUDA));
  cpu_view(copy).copy_(cpu);
  return copy;
}

namespace {

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::CUDA);

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> type,
                 std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>,
                 std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(size, &Memory::instance(), kKeys, c10::dtype_or_default(type),
                                   format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride,
                         std::optional<at::ScalarType> type, std::optional<at::Layout>,
                         std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(size, stride, &Memory::instance(), kKeys,
                                           c10::dtype_or_default(type));
}

at::Tensor as_strided(const at::Tensor& tensor, at::IntArrayRef size, at::IntArrayRef stride,
                      std::optional<int64_t> offset) {
  return at::native::as_strided_tensorimpl(tensor, size, stride, offset);
}

const at::Tensor& resize_(const at::Tensor& tensor, at::IntArrayRef size,
                          std::optional<at::MemoryFormat>) {
  const auto bytes = at::detail::computeStorageNbytesContiguous(
      size, tensor.dtype().itemsize(), static_cast<size_t>(tensor.storage_offset()));
  const auto& storage = tensor.storage();
  if (storage.nbytes() < bytes) {
    auto wider = Memory::instance().allocate(bytes);
    if (storage.nbytes() > 0)
      Memory::instance().copy_data(wider.get(), storage.data(), storage.nbytes());
    storage.set_data_ptr_noswap(std::move(wider));
    storage.set_nbytes(bytes);
  }
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous(size);
  return tensor;
}

at::Tensor& set_storage(at::Tensor& tensor, at::Storage storage, int64_t offset,
                        at::IntArrayRef size, at::IntArrayRef stride) {
  auto* data = tensor.unsafeGetTensorImpl();
  data->set_storage_keep_dtype(std::move(storage));
  data->set_storage_offset(offset);
  if (stride.empty())
    data->set_sizes_contiguous(size);
  else
    data->set_sizes_and_strides(size, stride);
  return tensor;
}

void count_copy(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  if (InsideOperator::now()) return;
  if (on_device(from) && on_device(to)) return count_call("aten::copy_");
  if (!on_device(to)) return count_read();
  count_write(/*waits=*/!non_blocking || !from.is_pinned());
}

at::Tensor& copy_(at::Tensor& to, const at::Tensor& from, bool non_blocking) {
  count_copy(from, to, non_blocking);
  const auto copy = [](const std::vector<at::Tensor>& views) { views[0].copy_(views[1]); };
  if (auto* recording = Recording::now(); recording != nullptr && !InsideOperator::now())
    recording->write({to, from}, copy);
  else
    copy({cpu_view(to), cpu_view(from)});
  return to;
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  cpu_view(to).copy_(cpu_view(from));
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  if (to.sizes() != from.sizes()) at::native::resize_(to, from.sizes(), std::nullopt);
  return copy_from(from, to, false);
}

at::Scalar local_scalar_dense(const at::Tensor& tensor) {
  if (!InsideOperator::now()) count_read();
  return at::_local_scalar_dense(cpu_view(tensor));
}

}  // namespace
}  // namespace fake_cuda

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("empty.memory_format", &fake_cuda::empty);
  library.impl("empty_strided", &fake_cuda::empty_strided);
  library.impl("as_strided", &fake_cuda::as_strided);
  library.impl("view", &at::native::view);
  library.impl("_reshape_alias", &at::native::_reshape_alias);
  library.impl("unfold", &at::native::unfold);
  library.impl("resize_", &fake_cuda::resize_);
  library.impl("set_.source_Storage_storage_offset", &fake_cuda::set_storage);
  library.impl("copy_", &fake_cuda::copy_);
  library.impl("_copy_from", &fake_cuda::copy_from);
  library.impl("_copy_from_and_resize", &fake_cuda::copy_from_and_resize);
  library.impl("_local_scalar_dense", &fake_cuda::local_scalar_dense);
}
