#include "models/ops/weight_casts.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_copy.h>

#include <ranges>
#include <utility>

namespace ablate::models::ops {
namespace {

thread_local WeightCasts* current = nullptr;

/// Copies in another element type, by one operator.
std::vector<torch::Tensor> all_in(torch::ScalarType type, const std::vector<torch::Tensor>& from) {
  std::vector<torch::Tensor> to;
  for (const auto& tensor : from) to.push_back(torch::empty_like(tensor, type));
  if (!to.empty()) at::_foreach_copy_(to, from);
  return to;
}

}  // namespace

WeightCasts::WeightCasts(std::vector<torch::Tensor> weights, torch::ScalarType type)
    : outer_(std::exchange(current, this)), weights_(std::move(weights)) {
  const torch::NoGradGuard no_grad;
  casts_ = all_in(type, weights_);
  for (size_t i = 0; i < weights_.size(); ++i) index_[weights_[i].unsafeGetTensorImpl()] = i;
}

WeightCasts::~WeightCasts() { current = outer_; }

torch::Tensor WeightCasts::use(const torch::Tensor& weight) {
  const auto found = index_.find(weight.unsafeGetTensorImpl());
  if (found == index_.end()) return {};
  auto cast = casts_[found->second].detach();
  if (!torch::GradMode::is_enabled() || !weight.requires_grad()) return cast;
  uses_.push_back({found->second, cast.set_requires_grad(true)});
  return cast;
}

void WeightCasts::add_gradients() {
  const torch::NoGradGuard no_grad;
  std::vector<size_t> of;
  std::vector<torch::Tensor> gradients;
  for (const auto& use : uses_ | std::views::reverse) {  // the order of a backward pass
    if (!use.cast.grad().defined()) continue;
    of.push_back(use.weight);
    gradients.push_back(use.cast.grad());
  }
  uses_.clear();
  const auto wide = all_in(torch::kFloat, gradients);
  std::vector<torch::Tensor> sums(weights_.size()), earlier, added;
  for (size_t i = 0; i < wide.size(); ++i) {
    auto& sum = sums[of[i]];
    sum = sum.defined() ? sum.add_(wide[i]) : wide[i];
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    if (!sums[i].defined()) continue;
    auto& gradient = weights_[i].mutable_grad();
    if (!gradient.defined()) {
      gradient = sums[i];
      continue;
    }
    earlier.push_back(gradient);
    added.push_back(sums[i]);
  }
  if (!earlier.empty()) at::_foreach_add_(earlier, added);
}

torch::Tensor weight_in(const torch::Tensor& weight, torch::ScalarType type) {
  if (weight.scalar_type() == type) return weight;
  const auto kept = current == nullptr ? torch::Tensor() : current->use(weight);
  return kept.defined() && kept.scalar_type() == type ? kept : weight.to(type);
}

}  // namespace ablate::models::ops
