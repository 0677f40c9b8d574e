#include "training/weights.h"

#include <fmt/format.h>

namespace ablate::training {

Weights weights_of(const torch::nn::Module& model) {
  Weights weights;
  for (const auto& item : model.named_parameters()) weights[item.key()] = item.value();
  for (const auto& item : model.named_buffers()) weights[item.key()] = item.value();
  return weights;
}

void load_tensors(const Tensors& own, const Tensors& saved, std::string_view kind) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : saved)
    TORCH_CHECK(own.contains(name), "the model has no ", kind, " '", name, "'");
  for (const auto& [name, tensor] : own) {
    const auto found = saved.find(name);
    TORCH_CHECK(found != saved.end(), "the checkpoint lacks the ", kind, " '", name, "'");
    TORCH_CHECK(found->second.sizes() == tensor.sizes(), "the ", kind, " '", name, "' is ",
                found->second.sizes(), " in the checkpoint and ", tensor.sizes(), " in the model");
    tensor.copy_(found->second);
  }
}

void load_weights(const torch::nn::Module& model, const Weights& weights) {
  load_tensors(weights_of(model), weights, "weight");
}

std::optional<std::string> not_finite(const Weights& weights) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : weights) {
    if (!tensor.is_floating_point()) continue;
    const auto finite = tensor.isfinite().sum().item<int64_t>();
    if (finite == tensor.numel()) continue;
    const auto faults = tensor.numel() - finite;
    return fmt::format("the weight '{}' holds {} number{} of {} that {} not finite", name, faults,
                       faults == 1 ? "" : "s", tensor.numel(), faults == 1 ? "is" : "are");
  }
  return {};
}

void require_finite(const Weights& weights, const std::string& source) {
  if (const auto fault = not_finite(weights)) throw CheckpointError(source + ": " + *fault);
}

Weights average(std::span<const Weights> models) {
  torch::NoGradGuard no_grad;
  Weights mean;
  for (const auto& [name, first] : models.front()) {
    auto sum = torch::zeros_like(first, torch::kDouble);
    for (const auto& weights : models) sum += weights.at(name);
    mean[name] = (sum / static_cast<double>(models.size())).to(first.scalar_type());
  }
  return mean;
}

}  // namespace ablate::training
