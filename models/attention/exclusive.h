#pragma once

#include "models/attention/stages.h"

namespace ablate::models {

/// Exclusive self-attention: the heads' outputs without their components along the values of the
/// queries' own positions (Zhai 2026, arXiv 2603.09078).
class ExclusiveStage : public Stage {
 public:
  ExclusiveStage(Module&, const StagePlace&) {}

  torch::Tensor read(const torch::Tensor& values, Projections& own, const StagePass&) override {
    constexpr double kSmallest = 1e-12;                                // of a squared length
    const auto v = own.value()->unsqueeze(-2);                         // [B, T, G, 1, W]
    const auto y = values.unflatten(-1, {v.size(2), -1, v.size(-1)});  // [B, T, G, H / G, W]
    const auto square = v.square().sum(-1, /*keepdim=*/true).clamp_min(kSmallest);
    return (y - (y * v).sum(-1, /*keepdim=*/true) / square * v).flatten(-3);
  }
};

}  // namespace ablate::models
