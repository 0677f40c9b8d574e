#include "training/ema.h"

#include <ATen/ops/_foreach_lerp.h>

#include <string_view>
#include <vector>

namespace ablate::training {
namespace {

constexpr std::string_view kEmaPrefix = "ema.";

}  // namespace

Ema::Ema(const torch::nn::Module& model, double decay)
    : followed_(weights_of(model)), decay_(decay) {
  for (const auto& [name, tensor] : followed_) averages_[name] = tensor.detach().clone();
}

void Ema::update() {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> averages, weights;
  for (const auto& [name, tensor] : followed_) {
    const auto& average = averages_.at(name);
    if (!tensor.is_floating_point()) {
      average.copy_(tensor);
      continue;
    }
    averages.push_back(average);
    weights.push_back(tensor);
  }
  at::_foreach_lerp_(averages, weights, 1 - decay_);
}

void Ema::save_to(Tensors& optimizer) const {
  for (const auto& [name, average] : averages_) optimizer[std::string(kEmaPrefix) + name] = average;
}

void Ema::load(const Weights& saved) { load_tensors(averages_, saved, "average"); }

Weights extract_ema(Tensors& optimizer) {
  Weights averages;
  for (auto at = optimizer.begin(); at != optimizer.end();) {
    if (!at->first.starts_with(kEmaPrefix)) {
      ++at;
      continue;
    }
    averages[at->first.substr(kEmaPrefix.size())] = at->second;
    at = optimizer.erase(at);
  }
  return averages;
}

}  // namespace ablate::training
