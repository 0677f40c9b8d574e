#include "training/optimizer.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_fused_adamw.h>

namespace ablate::training {
namespace {

AdamW with_decay(const OptimizerOptions& options) {
  if (const auto* adam = std::get_if<Adam>(&options)) {
    AdamW plain{*adam};
    plain.weight_decay = 0;
    return plain;
  }
  return std::get<AdamW>(options);
}

}  // namespace

Optimizer::Optimizer(const torch::nn::Module& model, const OptimizerOptions& options)
    : options_(with_decay(options)) {
  for (const auto& item : model.named_parameters()) {
    const auto& parameter = item.value();
    if (!parameter.requires_grad()) continue;
    entries_.push_back({item.key(), parameter, torch::zeros_like(parameter).detach(),
                        torch::zeros_like(parameter).detach(),
                        torch::zeros({}, torch::TensorOptions(parameter.device()))});
  }
}

void Optimizer::step(double learning_rate) {
  torch::NoGradGuard no_grad;
  step_group(true, learning_rate);
  step_group(false, learning_rate);
}

void Optimizer::step_group(bool decayed, double learning_rate) {
  std::vector<torch::Tensor> parameters, gradients, first, second, counts;
  for (auto& entry : entries_) {
    const bool matrix = entry.parameter.dim() >= 2 && !entry.name.ends_with("bias");
    if (!entry.parameter.grad().defined() || matrix != decayed) continue;
    parameters.push_back(entry.parameter);
    gradients.push_back(entry.parameter.grad());
    first.push_back(entry.first);
    second.push_back(entry.second);
    counts.push_back(entry.count);
  }
  if (parameters.empty()) return;
  at::_foreach_add_(counts, 1);
  at::_fused_adamw_(parameters, gradients, first, second, {}, counts, learning_rate, options_.beta1,
                    options_.beta2, decayed ? options_.weight_decay : 0.0, options_.epsilon,
                    /*amsgrad=*/false, /*maximize=*/false);
}

void Optimizer::clear_gradients() {
  for (auto& entry : entries_) entry.parameter.mutable_grad().reset();
}

std::vector<torch::Tensor> Optimizer::gradients() const {
  std::vector<torch::Tensor> result;
  for (const auto& entry : entries_)
    if (entry.parameter.grad().defined()) result.push_back(entry.parameter.grad());
  return result;
}

std::map<std::string, torch::Tensor> Optimizer::state() const {
  std::map<std::string, torch::Tensor> state;
  for (const auto& entry : entries_) {
    state["first." + entry.name] = entry.first;
    state["second." + entry.name] = entry.second;
    state["count." + entry.name] = entry.count;
  }
  return state;
}

void Optimizer::load(const std::map<std::string, torch::Tensor>& state) {
  torch::NoGradGuard no_grad;
  for (auto& [name, tensor] : this->state()) {
    const auto found = state.find(name);
    TORCH_CHECK(found != state.end(), "the optimizer state lacks '", name, "'");
    TORCH_CHECK(found->second.sizes() == tensor.sizes(), "the optimizer state's '", name,
                "' has another shape");
    tensor.copy_(found->second);
  }
}

}  // namespace ablate::training
