#pragma once

#include "models/attention/stages.h"

namespace ablate::models {

/// Another factor of query-key products than 1 / sqrt(K): a given one, that of the parametrization,
/// or one for each map that is learned and starts there (Henry et al. 2020, arXiv 2010.04245). It
/// multiplies queries, or what a position scheme computes of them if it computes the attention. A
/// learned one is that of the base width, so that its steps matter as much at every width.
class ScaleStage : public Stage {
 public:
  ScaleStage(Module& owner, const StagePlace& place)
      : fixed_(query_factor_of(place.options, place.stack)),
        unit_(place.root() * head_narrowing_of(place.options, place.stack)) {
    if (place.options.scale.learned)
      scale_ = owner.register_parameter("scale", {place.heads().count}, Constant{fixed_ / unit_},
                                        Role::vector);
  }

  void project(Projections& own, const StagePass& pass) override {
    auto* query = pass.position.content == nullptr ? own.query() : nullptr;
    if (query == nullptr) return;
    *query = scale_.defined() ? *query * learned().to(query->scalar_type()).unsqueeze(-1)
                              : *query * fixed_;
  }

  void score(ops::AttentionInput& input) override {
    if (input.position.content == nullptr) return;
    input.factor = {.fixed = fixed_, .by_head = scale_.defined() ? learned() : torch::Tensor()};
  }

 private:
  torch::Tensor learned() const { return scale_ * unit_; }  // [M]

  double fixed_, unit_;  // factors of queries: without a learned scale, and of the learned scale 1
  torch::Tensor scale_;  // undefined: it is not learned // [M]
};

}  // namespace ablate::models
