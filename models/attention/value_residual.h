#pragma once

#include "models/attention/stages.h"

namespace ablate::models {

/// Values keep those of the first layer of the pass that has this stage: w v + u v_first, with
/// w = u = 1/2, or with a w and a u of each layer that are learned and start there (Zhou et al.
/// 2024, arXiv 2410.17897, section 3).
class ValueResidualStage : public Stage {
 public:
  ValueResidualStage(Module& owner, const StagePlace& place) {
    if (place.options.value_residual == ValueResidual::learned)
      factors_ = owner.register_parameter("value_residual", {2}, Constant{0.5}, Role::vector);
  }

  void project(Projections& own, const StagePass& pass) override {
    auto& value = *own.value();
    auto& first = (*pass.context.shared)["first_values"];  // [B, T, GW]
    if (!first.defined()) first = value.flatten(-2);
    const auto of_first = first.unflatten(-1, {value.size(-2), -1});
    if (!factors_.defined()) {
      value = (value + of_first) * 0.5;
      return;
    }
    const auto factors = factors_.to(value.scalar_type());
    value = value * factors[0] + of_first * factors[1];
  }

 private:
  torch::Tensor factors_;  // of a layer's own values and of the first; undefined: 1/2 // [2]
};

}  // namespace ablate::models
