#include "models/ops/weighting.h"

#include <limits>

#include "models/ops/elementwise.h"

namespace ablate::models::ops {
namespace {

/// Softmax with one more score per head in the denominator: its sink, or 0 if there are no sinks.
/// // [B, H, T, S], [H]
torch::Tensor softmax_beside_sinks(const torch::Tensor& scores, const torch::Tensor& sinks) {
  auto all = torch::constant_pad_nd(scores, {1, 0});  // [B, H, T, 1 + S]
  if (sinks.defined()) {
    const auto own = sinks.to(scores.scalar_type()).unsqueeze(-1).unsqueeze(-1);  // [H, 1, 1]
    all = torch::cat({own.expand_as(scores.narrow(-1, 0, 1)), scores}, -1);
  }
  return all.softmax(-1).slice(-1, 1);
}

/// relu(e^s - 1) over the sum of |e^s - 1|, without overflow (Zuhri et al. 2025, section 3.1).
/// `scores` that are hidden are the lowest numbers. // [B, H, T, S], [B or 1, H or 1, T or 1, S]
torch::Tensor softpick(const torch::Tensor& scores, const torch::Tensor& hidden) {
  constexpr double kEpsilon = 1e-6;
  const auto most = scores.amax(-1, /*keepdim=*/true).clamp_min(0).detach();
  const auto parts = (scores - most).exp() - most.neg().exp();
  const auto sum = parts.abs().masked_fill(hidden, 0).sum(-1, /*keepdim=*/true);
  return parts.relu() / (sum + kEpsilon);
}

}  // namespace

torch::Tensor attention_weights(const torch::Tensor& scores, const torch::Tensor& visible,
                                const Weighting& weighting) {
  auto capped = wide(scores);
  if (weighting.softcap > 0) capped = (capped / weighting.softcap).tanh() * weighting.softcap;
  const auto hidden = visible.logical_not();
  const auto shown = [&](const torch::Tensor& all) {
    return all.masked_fill(hidden, std::numeric_limits<float>::lowest());
  };
  const auto number = [&] {  // of the visible keys // [B or 1, H or 1, T or 1, 1]
    return visible.sum(-1, /*keepdim=*/true).clamp_min(1).to(capped.scalar_type());
  };
  const auto weights = [&] {
    switch (weighting.score_function) {
      case ScoreFunction::softmax:
        return weighting.sinks.defined() ? softmax_beside_sinks(shown(capped), weighting.sinks)
                                         : shown(capped).softmax(-1);
      case ScoreFunction::softmax_one:
        return softmax_beside_sinks(shown(capped), weighting.sinks);
      case ScoreFunction::scalable_softmax:
        return shown(capped * number().log()).softmax(-1);
      case ScoreFunction::softpick:
        return softpick(shown(capped), hidden);
      case ScoreFunction::sigmoid:
        return (capped - number().log()).sigmoid();
      case ScoreFunction::relu2:
        return capped.relu().square() / number();
    }
    TORCH_CHECK(false, "invalid ScoreFunction ", static_cast<int>(weighting.score_function));
  };
  return weights().masked_fill(hidden, 0.0);
}

}  // namespace ablate::models::ops
