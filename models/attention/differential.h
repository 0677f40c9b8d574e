#pragma once

#include "models/attention/stages.h"

namespace ablate::models {

/// Every head has two queries for its keys and values, so two maps; its output is the first's less
/// sigmoid(W x) times the second's (Ye et al. 2026, Differential Transformer V2).
class DifferentialStage : public Stage {
 public:
  DifferentialStage(Module& owner, const StagePlace& place)
      : heads_(place.options.heads),
        lambda_(owner.register_module("lambda", place.number_of_heads(heads_, false))) {}

  torch::Tensor read(const torch::Tensor& values, Projections&, const StagePass& pass) override {
    const auto maps = values.unflatten(-1, {heads_, 2, -1}).unbind(-2);  // 2 of [B, T, H, W]
    return (maps[0] - lambda_(pass.x).sigmoid().unsqueeze(-1) * maps[1]).flatten(-2);
  }

 private:
  int64_t heads_;
  Linear lambda_;
};

}  // namespace ablate::models
