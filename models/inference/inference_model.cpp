#include "models/inference/inference_model.h"

namespace ablate::models {
namespace {

/// Calls `body(name, tensor)` for every parameter and buffer.
template <class Body>
void for_every_weight(TransformerImpl& model, Body&& body) {
  for (auto& item : model.named_parameters()) body(item.key(), item.value());
  for (auto& item : model.named_buffers()) body(item.key(), item.value());
}

/// A model of its own with the same weights.
Transformer copy_of(Transformer trained) {
  const torch::NoGradGuard no_grad;
  std::map<std::string, torch::Tensor> weights;
  for_every_weight(*trained, [&](const std::string& name, const torch::Tensor& tensor) {
    weights[name] = tensor.detach().clone();
  });
  Transformer copy(trained->options(), trained->vocabulary());
  copy->to(trained->output_weight().device());
  for_every_weight(*copy, [&](const std::string& name, torch::Tensor& tensor) {
    tensor.set_data(weights.at(name));
    tensor.set_requires_grad(false);
  });
  return copy;
}

}  // namespace

WeightLayout layout_of(torch::DeviceType device, WeightDtype dtype) {
  if (device == torch::kCPU) return WeightLayout::packed;
  switch (dtype) {
    case WeightDtype::fp32:
      return WeightLayout::dense;
    case WeightDtype::bf16:
      return WeightLayout::cast;
    case WeightDtype::int8:
      throw WeightDtypeError("int8 needs the CPU; choose bf16 or fp32 on " +
                             c10::DeviceTypeName(device, /*lower_case=*/true));
  }
  TORCH_CHECK(false, "invalid WeightDtype ", static_cast<int>(dtype));
}

void cast_weights(TransformerImpl& model, torch::ScalarType dtype) {
  const torch::NoGradGuard no_grad;
  for_every_weight(model, [&](const std::string& name, torch::Tensor& tensor) {
    if (tensor.is_floating_point() && name.find(".router.") == std::string::npos)
      tensor.set_data(tensor.to(dtype));
  });
}

InferenceModel::InferenceModel(const Transformer& trained, WeightDtype dtype) : network_(nullptr) {
  const auto layout = layout_of(trained->output_weight().device().type(), dtype);
  network_ = copy_of(trained);
  if (layout == WeightLayout::packed) network_->prepack(dtype);
  if (layout == WeightLayout::cast) cast_weights(*network_, torch::kBFloat16);
}

torch::Tensor InferenceModel::forward(const torch::Tensor& source,
                                      const torch::Tensor& target) const {
  const torch::NoGradGuard no_grad;
  return Transformer(network_)->forward(source, target);
}

DecoderCache InferenceModel::prefill(const torch::Tensor& source) const {
  const torch::NoGradGuard no_grad;
  return Transformer(network_)->prefill(source);
}

torch::Tensor InferenceModel::step(const torch::Tensor& last, DecoderCache& cache,
                                   const Observer* observer) const {
  const torch::NoGradGuard no_grad;
  return Transformer(network_)->step(last, cache, {.observer = observer});
}

}  // namespace ablate::models
