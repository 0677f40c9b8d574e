// Every other operator: its CPU kernel, after the checks that CUDA makes.
#include <ATen/native/CPUFallback.h>
#include <torch/library.h>

#include <set>

#include "tests/device/fake_cuda/counts.h"
#include "tests/device/fake_cuda/recording.h"
#include "tests/device/fake_cuda/tensors.h"

namespace fake_cuda {
namespace {

/// Operators that take indices of the host, too.
const std::set<std::string> kTakesHostIndices{"aten::index", "aten::index_put", "aten::index_put_",
                                              "aten::_index_put_impl_"};
/// Operators that make the host wait: it needs their result, or its size.
const std::set<std::string> kWaits{
    "aten::nonzero",    "aten::masked_select",      "aten::equal",   "aten::_unique2",
    "aten::unique_dim", "aten::unique_consecutive", "aten::bincount"};

/// Calls `look` with every tensor among the last `count` values of a stack.
template <class Look>
void for_each_tensor(const torch::jit::Stack& stack, size_t count, Look&& look) {
  for (const auto& value : torch::jit::last(stack, count)) {
    if (value.isTensor()) {
      look(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) look(tensor);
    } else if (value.isOptionalTensorList()) {
      for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector())
        if (tensor) look(*tensor);
    }
  }
}

/// The host's tensors are welcome only as single numbers, and as indices.
void check_devices(const std::string& name, const torch::jit::Stack& stack, size_t count) {
  if (kTakesHostIndices.contains(name)) return;
  for_each_tensor(stack, count, [&](const at::Tensor& tensor) {
    TORCH_CHECK(!tensor.defined() || on_device(tensor) || tensor.dim() == 0,
                "Expected all tensors to be on the same device, but found at least two devices, "
                "cuda:0 and cpu! (in ",
                name, ", ", tensor.sizes(), ")");
  });
}

/// Whether the host waits: a mask as an index is a list of places of unknown length.
bool waits(const std::string& name, const torch::jit::Stack& stack, size_t count) {
  if (kWaits.contains(name)) return true;
  if (!kTakesHostIndices.contains(name)) return false;
  bool masked = false;
  for (const auto& value : torch::jit::last(stack, count))
    if (value.isOptionalTensorList())
      for (const std::optional<at::Tensor>& index : value.toOptionalTensorVector())
        masked = masked || (index && index->defined() && index->scalar_type() == at::kBool);
  return masked;
}

/// CUDA's fused optimizers update elements by their places in memory, and ask for one layout of a
/// parameter, its gradient and its moments.
void check_layouts(const std::string& name, const torch::jit::Stack& stack, size_t count) {
  if (!name.starts_with("aten::_fused_adam")) return;
  const auto all = torch::jit::last(stack, count);
  const auto parameters = all[0].toTensorVector();
  for (const size_t list : {1, 2, 3}) {
    const auto others = all[list].toTensorVector();
    for (size_t i = 0; i < parameters.size(); ++i)
      TORCH_CHECK(others[i].strides() == parameters[i].strides(),
                  "params, grads, exp_avgs, and exp_avg_sqs must have same dtype, device, and "
                  "layout (in ",
                  name, ", ", parameters[i].sizes(), ")");
  }
}

void run(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& schema = op.schema();
  const auto count = schema.arguments().size();
  if (!InsideOperator::now()) {
    count_call(schema.name());
    if (waits(schema.name(), *stack, count)) count_read();
  }
  check_devices(schema.name(), *stack, count);
  check_layouts(schema.name(), *stack, count);
  const bool outermost = !InsideOperator::now();
  const InsideOperator inside;
  if (auto* recording = Recording::now(); recording != nullptr && outermost)
    recording->run(op, *stack);
  else
    at::native::cpu_fallback(op, stack);
}

}  // namespace
}  // namespace fake_cuda

TORCH_LIBRARY_IMPL(_, CUDA, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&fake_cuda::run>());
}

// Operators of several steps on other devices, which CUDA has as one.
TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  for (const auto& op : c10::Dispatcher::singleton().getAllOpNames())
    if (op.name.starts_with("aten::_foreach_") || op.name == "aten::native_layer_norm")
      library.impl(toString(op).c_str(),
                   torch::CppFunction::makeFromBoxedFunction<&fake_cuda::run>());
}
