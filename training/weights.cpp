#include "training/weights.h"

namespace ablate::training {

Weights weights_of(const torch::nn::Module& model) {
  Weights weights;
  for (const auto& item : model.named_parameters()) weights[item.key()] = item.value();
  for (const auto& item : model.named_buffers()) weights[item.key()] = item.value();
  return weights;
}

void load_weights(torch::nn::Module& model, const Weights& weights) {
  torch::NoGradGuard no_grad;
  auto own = weights_of(model);
  for (const auto& [name, tensor] : weights)
    TORCH_CHECK(own.contains(name), "the model has no weight '", name, "'");
  for (auto& [name, tensor] : own) {
    const auto found = weights.find(name);
    TORCH_CHECK(found != weights.end(), "the checkpoint lacks the weight '", name, "'");
    TORCH_CHECK(found->second.sizes() == tensor.sizes(), "the weight '", name, "' is ",
                found->second.sizes(), " in the checkpoint and ", tensor.sizes(), " in the model");
    tensor.copy_(found->second);
  }
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
