#include "training/clips.h"

#include <ATen/ops/_foreach_mul.h>

namespace ablate::training {

Clips::Clips(const ClipOptions& options) : options_(options) {
  observer_.largest_scores = [this](models::ScoredMixer& attention, const torch::Tensor& scores) {
    const auto [found, added] = largest_.emplace(&attention, scores);
    if (!added) found->second = torch::maximum(found->second, scores);
  };
}

const models::Observer* Clips::observer() const {
  return options_.scores.given() ? &observer_ : nullptr;
}

void Clips::before_step(const std::vector<torch::Tensor>& gradients, double norm) const {
  const double most = options_.norm.most;
  if (!options_.norm.given() || norm <= most) return;
  const torch::NoGradGuard no_grad;
  at::_foreach_mul_(gradients, most / (norm + 1e-6));
}

void Clips::after_step() {
  for (const auto& [attention, scores] : largest_)
    attention->clip_scores(scores, options_.scores.most);
}

}  // namespace ablate::training
