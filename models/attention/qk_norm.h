#pragma once

#include "models/attention/stages.h"
#include "models/residual.h"

namespace ablate::models {

/// A norm of the queries and keys of every head, before rotary positions turn them: rms as in Henry
/// et al. 2020 (arXiv 2010.04245) without their learned scale; layer as in Dehghani et al. 2023
/// (arXiv 2302.05442).
class QkNormStage : public Stage {
 public:
  QkNormStage(Module& owner, const StagePlace& place)
      : query_norm_(owner.register_module("query_norm", norm_of(place))),
        key_norm_(owner.register_module("key_norm", norm_of(place))) {}

  void project(Projections& own, const StagePass&) override {
    if (auto* query = own.query()) *query = query_norm_(*query);
    if (auto* key = own.key()) *key = key_norm_(*key);
  }

 private:
  static Norm norm_of(const StagePlace& place) {
    const bool rms = place.options.qk_norm == QkNorm::rms;
    return make_inner_norm(rms ? NormKind::rms : NormKind::layer, place.heads().d_k, place.stack);
  }

  Norm query_norm_, key_norm_;  // [K]
};

}  // namespace ablate::models
