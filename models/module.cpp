#include "models/module.h"

#include <limits>
#include <utility>

#include "models/random.h"

namespace ablate::models {
namespace {

thread_local bool only_shapes = false;

torch::Device device_of_new() { return only_shapes ? torch::kMeta : torch::kCPU; }

torch::Tensor undrawn(torch::IntArrayRef shape, const Initializer& initializer) {
  const auto* constant = std::get_if<Constant>(&initializer);
  return torch::full(shape, constant ? constant->value : std::numeric_limits<double>::quiet_NaN(),
                     torch::TensorOptions(torch::kFloat).device(device_of_new()));
}

/// The maps that are drawn separately; by default every matrix of the tensor is one map.
Maps maps_of(const torch::Tensor& tensor, const Initializer& initializer) {
  if (const auto* xavier = std::get_if<XavierUniform>(&initializer))
    return {.rows = xavier->rows, .transposed = xavier->transposed};
  if (tensor.dim() < 2) return {.rows = {1}};
  const int64_t rows = tensor.size(-2);
  const auto count = static_cast<size_t>(tensor.numel() / (rows * tensor.size(-1)));
  return {.rows = std::vector<int64_t>(count, rows)};
}

}  // namespace

ShapesOnly::ShapesOnly() : before_(std::exchange(only_shapes, true)) {}

ShapesOnly::~ShapesOnly() { only_shapes = before_; }

torch::Tensor Module::register_parameter(const std::string& name, torch::IntArrayRef shape,
                                         const Initializer& initializer, Role role) {
  const auto tensor = torch::nn::Module::register_parameter(name, undrawn(shape, initializer));
  own_parameters_.push_back({.name = name,
                             .tensor = tensor,
                             .initializer = initializer,
                             .role = role,
                             .maps = maps_of(tensor, initializer)});
  return tensor;
}

torch::Tensor Module::register_buffer(const std::string& name, torch::IntArrayRef shape,
                                      const Initializer& initializer) {
  const auto tensor = torch::nn::Module::register_buffer(name, undrawn(shape, initializer));
  random_buffers_.push_back({name, tensor, initializer});
  return tensor;
}

torch::Tensor Module::register_buffer(const std::string& name, const torch::Tensor& values) {
  return torch::nn::Module::register_buffer(name, values.to(device_of_new()));
}

void assign_sites(torch::nn::Module& model) {
  for (const auto& item : model.named_modules("", /*include_self=*/false))
    if (auto* own = dynamic_cast<Module*>(item.value().get()))
      own->site_ = derive_seed(0, item.key());
}

}  // namespace ablate::models
