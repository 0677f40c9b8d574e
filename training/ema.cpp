#include "training/ema.h"

#include <ATen/ops/_foreach_lerp.h>

#include <string_view>

namespace ablate::training {
namespace {

constexpr std::string_view kEmaPrefix = "ema.", kEarlierPrefix = "shadow.";

}  // namespace

Ema::Ema(const torch::nn::Module& model, double decay) : decay_(decay) {
  torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : weights_of(model)) {
    const auto average = averages_[name] = tensor.detach().clone();
    if (tensor.is_floating_point()) {
      floating_.push_back(average);
      followed_.push_back(tensor);
    } else {
      whole_.emplace_back(average, tensor);
    }
  }
}

void Ema::update() {
  torch::NoGradGuard no_grad;
  at::_foreach_lerp_(floating_, followed_, 1 - decay_);
  for (auto& [average, weight] : whole_) average.copy_(weight);
}

void Ema::save_to(Weights& saved) const {
  for (const auto& [name, average] : averages_) saved[std::string(kEmaPrefix) + name] = average;
}

void Ema::load(const Weights& saved) {
  torch::NoGradGuard no_grad;
  for (auto& [name, average] : averages_) {
    const auto found = saved.find(name);
    TORCH_CHECK(found != saved.end(), "the checkpoint lacks the average of '", name, "'");
    TORCH_CHECK(found->second.sizes() == average.sizes(), "the checkpoint's average of '", name,
                "' has another shape");
    average.copy_(found->second);
  }
}

Weights extract_ema(Weights& optimizer) {
  Weights averages;
  for (auto at = optimizer.begin(); at != optimizer.end();) {
    const std::string_view name = at->first;
    const auto prefix = name.starts_with(kEmaPrefix) ? kEmaPrefix : kEarlierPrefix;
    if (!name.starts_with(prefix)) {
      ++at;
      continue;
    }
    averages[std::string(name.substr(prefix.size()))] = at->second;
    at = optimizer.erase(at);
  }
  return averages;
}

}  // namespace ablate::training
