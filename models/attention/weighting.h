#pragma once

#include "models/attention/stages.h"

namespace ablate::models {

inline ops::Weighting weighting_of(const MultiHead& options) {
  return {.score_function = options.score_function, .softcap = options.softcap, .sinks = {}};
}

/// Another way from the scores s of a query that sees n keys to weights than their softmax.
/// softmax_one: e^s / (1 + sum of e^s) (Miller 2023); scalable_softmax: the softmax of s ln n
/// (Nakanishi 2025, arXiv 2501.19399); softpick: relu(e^s - 1) / (sum of |e^s - 1|) (Zuhri et al.
/// 2025, arXiv 2504.20966); sigmoid: sigmoid(s - ln n) (Ramapuram et al. 2024, arXiv 2409.04431);
/// relu2: relu(s)^2 / n (Wortsman et al. 2023, arXiv 2309.08586).
/// Soft-capping bends scores first (Gemma 2, 2024, arXiv 2408.00118). Sinks are a learned score of
/// each map that takes part in the softmax and has no value (gpt-oss, OpenAI 2025).
class WeightingStage : public Stage {
 public:
  WeightingStage(Module& owner, const StagePlace& place) : weighting_(weighting_of(place.options)) {
    if (place.options.sinks)
      weighting_.sinks =
          owner.register_parameter("sinks", {place.heads().count}, Constant{0}, Role::vector);
  }

  void score(ops::AttentionInput& input) override { input.weighting = weighting_; }

 private:
  ops::Weighting weighting_;
};

}  // namespace ablate::models
