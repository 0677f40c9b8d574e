#pragma once

#include "models/attention/stages.h"

namespace ablate::models {

/// A gate sigmoid(W x + b) on the output of every head, x being the attention's input: one number
/// for a head, or one for each element (Qiu et al. 2025, arXiv 2505.06708).
class GateStage : public Stage {
 public:
  GateStage(Module& owner, const StagePlace& place)
      : heads_(place.options.heads), gate_(owner.register_module("gate", map_of(place))) {}

  torch::Tensor read(const torch::Tensor& values, Projections&, const StagePass& pass) override {
    const auto gates = gate_(pass.x).sigmoid();  // [B, T, H] or [B, T, HW]
    if (gates.size(-1) == values.size(-1)) return values * gates;
    return (values.unflatten(-1, {heads_, -1}) * gates.unsqueeze(-1)).flatten(-2);
  }

 private:
  static Linear map_of(const StagePlace& place) {
    const auto& [options, stack] = place;
    if (options.gate == OutputGate::head) return place.number_of_heads(options.heads, stack.bias);
    return Linear(stack.d_model, options.heads * place.heads().d_v, stack.bias, Projection::query);
  }

  int64_t heads_;
  Linear gate_;
};

}  // namespace ablate::models
