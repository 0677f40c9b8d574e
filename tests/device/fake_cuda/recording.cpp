// CUDA graphs: what a capture records, and its replay.
#include "tests/device/fake_cuda/recording.h"

#include <ATen/native/CPUFallback.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <atomic>

#include "tests/device/fake_cuda/counts.h"
#include "tests/device/fake_cuda/memory.h"
#include "tests/device/fake_cuda/tensors.h"
#include "training/graphs/device_graph.h"

namespace fake_cuda {
namespace {

std::atomic<Recording*> current = nullptr;

/// A view on the CPU that does not keep the memory.
at::Tensor weak_view(const at::Tensor& tensor) {
  const auto view = cpu_view(tensor);
  return at::from_blob(view.data_ptr(), view.sizes(), view.strides(),
                       at::TensorOptions(view.scalar_type()));
}

/// False if an operator has yet to make it as large as its results.
bool has_memory(const at::Tensor& tensor) { return tensor.storage().data() != nullptr; }

/// The device tensors that an operator writes to.
std::vector<at::Tensor> written_by(const c10::FunctionSchema& schema,
                                   const torch::jit::Stack& stack) {
  std::vector<at::Tensor> written;
  const auto arguments = torch::jit::last(stack, schema.arguments().size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto* alias = schema.arguments()[i].alias_info();
    if (alias == nullptr || !alias->isWrite()) continue;
    if (arguments[i].isTensor()) written.push_back(arguments[i].toTensor());
    if (arguments[i].isTensorList())
      for (const at::Tensor& tensor : arguments[i].toTensorVector()) written.push_back(tensor);
  }
  return written;
}

/// What an operator returns if it only writes to its arguments.
void return_written(const c10::FunctionSchema& schema, const std::vector<at::Tensor>& written,
                    torch::jit::Stack& stack) {
  torch::jit::drop(stack, schema.arguments().size());
  for (size_t i = 0; i < schema.returns().size(); ++i) stack.emplace_back(written[i]);
}

/// The value with `map` of every tensor in it.
template <class Map>
c10::IValue mapped(const c10::IValue& value, Map&& map) {
  if (value.isTensor()) return map(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> results;
    for (const at::Tensor& tensor : value.toTensorVector()) results.push_back(map(tensor));
    return results;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> results;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector())
      results.push_back(tensor ? std::optional<at::Tensor>(map(*tensor)) : std::nullopt);
    return results;
  }
  return value;
}

/// A copy that promotes no other number's type if the tensor, which was a number, does not.
at::Tensor copy_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  auto copy = tensor.clone();
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number())
    copy.unsafeGetTensorImpl()->set_wrapped_number(true);
  return copy;
}

c10::IValue copy_of(const c10::IValue& value) {
  return mapped(value, [](const at::Tensor& tensor) { return copy_of(tensor); });
}

/// Copies what a kernel has returned to where the recording expects it.
void put(const c10::IValue& from, const c10::IValue& to) {
  if (to.isTensor()) {
    const auto target = to.toTensor();
    if (target.defined() && target.sizes() == from.toTensor().sizes())
      target.copy_(from.toTensor());
  } else if (to.isTensorList()) {
    const auto sources = from.toTensorVector(), targets = to.toTensorVector();
    for (size_t i = 0; i < targets.size(); ++i) targets[i].copy_(sources[i]);
  }
}

}  // namespace

Recording* Recording::now() { return current; }

void refuse_in_capture(const char* what) {
  TORCH_CHECK(current == nullptr, "CUDA error: operation not permitted when stream is capturing (",
              what, ")");
}

void Recording::begin() {
  refuse_in_capture("a capture");
  current = this;
}

void Recording::end() {
  current = nullptr;
  for (void* data : own_) Memory::instance().spoil(data);
}

void Recording::replay() const {
  count_call("graph");
  for (const auto& one : outside_)
    TORCH_CHECK(!one.storage.expired(), "a graph reads or writes memory that is gone");
  const InsideOperator inside;
  const at::NoGradGuard no_grad;
  for (const auto& kernel : kernels_) kernel();
}

bool Recording::owns(const at::Tensor& tensor) const {
  return !has_memory(tensor) || own_.contains(tensor.storage().mutable_data());
}

at::Tensor Recording::view(const at::Tensor& tensor) {
  if (!on_device(tensor)) return tensor;
  if (!has_memory(tensor)) return at::empty(tensor.sizes(), tensor.scalar_type());
  if (!owns(tensor)) outside_.push_back({tensor.storage().getWeakStorageImpl()});
  return weak_view(tensor);
}

c10::IValue Recording::view(const c10::IValue& value) {
  if (value.isDevice()) return c10::Device(c10::kCPU);
  return mapped(value, [this](const at::Tensor& tensor) { return view(tensor); });
}

void Recording::run(const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  const auto& schema = op.schema();
  torch::jit::Stack inputs;
  for (const auto& value : torch::jit::last(stack, schema.arguments().size()))
    inputs.push_back(view(value));
  const auto written = written_by(schema, stack);
  const bool writes_outside =
      std::ranges::any_of(written, [&](const at::Tensor& tensor) { return !owns(tensor); });
  if (writes_outside)
    return_written(schema, written, stack);
  else
    at::native::cpu_fallback(op, &stack);
  torch::jit::Stack outputs;
  for (const auto& value : torch::jit::last(stack, schema.returns().size()))
    outputs.push_back(view(value));
  // On copies, as at::native::cpu_fallback(): a kernel may round otherwise in another layout.
  kernels_.push_back([op, inputs, outputs] {
    torch::jit::Stack values;
    for (const auto& value : inputs) values.push_back(copy_of(value));
    const auto copies = values;
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &values);
    const auto& arguments = op.schema().arguments();
    for (size_t i = 0; i < arguments.size(); ++i)
      if (const auto* alias = arguments[i].alias_info(); alias != nullptr && alias->isWrite())
        put(copies[i], inputs[i]);
    for (size_t i = 0; i < outputs.size(); ++i) put(values[i], outputs[i]);
  });
}

std::vector<at::Tensor> Recording::compute(const std::vector<at::Tensor>& inputs,
                                           const Compute& compute) {
  std::vector<at::Tensor> views, results, targets;
  for (const auto& tensor : inputs) views.push_back(view(tensor));
  for (const auto& tensor : compute(views))
    results.push_back(tensor.defined() ? device_copy(tensor) : tensor);
  for (const auto& tensor : results) targets.push_back(view(tensor));
  kernels_.push_back([compute, views, targets] {
    const auto computed = compute(views);
    for (size_t i = 0; i < targets.size(); ++i) put(computed[i], targets[i]);
  });
  return results;
}

void Recording::write(const std::vector<at::Tensor>& tensors, const Write& write) {
  std::vector<at::Tensor> views;
  for (const auto& tensor : tensors) views.push_back(view(tensor));
  if (owns(tensors[0])) write(views);
  kernels_.push_back([write, views] { write(views); });
}

std::vector<at::Tensor> launch(const char* name, const std::vector<at::Tensor>& inputs,
                               const Recording::Compute& compute) {
  count_call(name);
  const InsideOperator inside;
  if (auto* recording = Recording::now()) return recording->compute(inputs, compute);
  std::vector<at::Tensor> views, results;
  for (const auto& tensor : inputs) views.push_back(tensor.defined() ? cpu_view(tensor) : tensor);
  for (const auto& tensor : compute(views))
    results.push_back(tensor.defined() ? device_copy(tensor) : tensor);
  return results;
}

namespace {

struct Graph final : ablate::training::DeviceGraph {
  void warm_up(const Work& work) override { work(); }
  void capture(const Work& work) override {
    recording_.begin();
    try {
      work();
    } catch (...) {
      recording_.end();
      throw;
    }
    recording_.end();
  }
  void replay() override { recording_.replay(); }

 private:
  Recording recording_;
};

}  // namespace
}  // namespace fake_cuda

extern "C" ablate::training::MakeGraph ablate_make_graph;

ablate::training::DeviceGraph* ablate_make_graph() { return new fake_cuda::Graph; }
