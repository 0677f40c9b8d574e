#include "training/score_clip.h"

namespace ablate::training {

ScoreClip::ScoreClip(double most) : most_(most) {
  observer_.largest_scores = [this](models::ScoredMixer& attention, const torch::Tensor& scores) {
    const auto [found, added] = largest_.emplace(&attention, scores);
    if (!added) found->second = torch::maximum(found->second, scores);
  };
}

void ScoreClip::clip() {
  for (const auto& [attention, scores] : largest_) attention->clip_scores(scores, most_);
}

}  // namespace ablate::training
