#include "models/inference/inference_model.h"

#include "models/router.h"

namespace ablate::models {
namespace {

/// A model of its own with the same weights.
Transformer copy_of(const Transformer& trained) {
  const torch::NoGradGuard no_grad;
  Transformer copy(trained->options(), trained->vocabulary());
  const auto copy_each = [](const std::vector<torch::Tensor>& from, std::vector<torch::Tensor> to) {
    for (size_t i = 0; i < from.size(); ++i) {
      to[i].set_data(from[i].detach().clone());
      to[i].set_requires_grad(false);
    }
  };
  copy_each(trained->parameters(), copy->parameters());
  copy_each(trained->buffers(), copy->buffers());
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
  }
  TORCH_CHECK(false, "invalid WeightDtype ", static_cast<int>(dtype));
}

void cast_weights(torch::nn::Module& module, torch::ScalarType dtype) {
  const torch::NoGradGuard no_grad;
  if (dynamic_cast<const Router*>(&module) != nullptr) return;
  for (auto& tensor : module.parameters(/*recurse=*/false)) tensor.set_data(tensor.to(dtype));
  for (auto& tensor : module.buffers(/*recurse=*/false))
    if (tensor.is_floating_point()) tensor.set_data(tensor.to(dtype));
  for (const auto& child : module.children()) cast_weights(*child, dtype);
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

ops::TargetScores InferenceModel::score_targets(const torch::Tensor& source,
                                                const torch::Tensor& target_in,
                                                const torch::Tensor& target_out) const {
  const torch::NoGradGuard no_grad;
  return Transformer(network_)->score_targets(source, target_in, target_out);
}

DecoderCache InferenceModel::prefill(const torch::Tensor& source) const {
  const torch::NoGradGuard no_grad;
  return Transformer(network_)->prefill(source);
}

torch::Tensor InferenceModel::step(const torch::Tensor& last, DecoderCache& cache) const {
  const torch::NoGradGuard no_grad;
  return Transformer(network_)->step(last, cache);
}

}  // namespace ablate::models
