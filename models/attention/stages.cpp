#include "models/attention/stages.h"

#include "models/attention/differential.h"
#include "models/attention/exclusive.h"
#include "models/attention/forgetting.h"
#include "models/attention/gate.h"
#include "models/attention/qk_norm.h"
#include "models/attention/scale.h"
#include "models/attention/value_embedding.h"
#include "models/attention/value_residual.h"
#include "models/attention/weighting.h"

namespace ablate::models {
namespace {

template <class... Kinds>
struct StageList {
  /// Calls act.operator()<Kind>() for each kind that the options ask for.
  static void each_in(const StagePlace& place, const auto& act) {
    ((Kinds::is_in(place) ? act.template operator()<Kinds>() : void()), ...);
  }
};

/// In this order stages register their parameters, and act in each place.
using AllStages =
    StageList<QkNormStage, ScaleStage, WeightingStage, ValueResidualStage, ValueEmbeddingStage,
              ForgettingStage, DifferentialStage, ExclusiveStage, GateStage>;

}  // namespace

Stages::Stages(Module& owner, const StagePlace& place) {
  AllStages::each_in(
      place, [&]<class Kind>() { stages_.push_back(std::make_unique<Kind>(owner, place)); });
}

void Stages::project(Projections& own, const StagePass& pass) const {
  for (const auto& stage : stages_) stage->project(own, pass);
}

void Stages::score(ops::AttentionInput& input) const {
  for (const auto& stage : stages_) stage->score(input);
}

torch::Tensor Stages::read(torch::Tensor values, Projections& own, const StagePass& pass) const {
  for (const auto& stage : stages_) values = stage->read(values, own, pass);
  return values;
}

void Stages::begin(KVCache& cache, const torch::Tensor& like) const {
  for (const auto& stage : stages_) stage->begin(cache, like);
}

}  // namespace ablate::models
