#include "models/attention/stages.h"

#include <array>

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

template <class Kind>
std::unique_ptr<Stage> made(Module& owner, const StagePlace& place) {
  return std::make_unique<Kind>(owner, place);
}

}  // namespace

Stages::Stages(Module& owner, const StagePlace& place) {
  struct Kind {
    bool wanted;
    std::unique_ptr<Stage> (*make)(Module&, const StagePlace&);
  };
  const auto& o = place.options;
  // In this order stages register their parameters, and act in each place.
  const std::array kinds{
      Kind{o.qk_norm != QkNorm::none, made<QkNormStage>},
      Kind{o.scale.learned || query_factor_of(o, place.stack) != 1, made<ScaleStage>},
      Kind{o.sinks || !weighting_of(o).is_softmax(), made<WeightingStage>},
      Kind{o.value_residual != ValueResidual::none, made<ValueResidualStage>},
      Kind{o.value_embedding, made<ValueEmbeddingStage>},
      Kind{o.forgetting, made<ForgettingStage>},
      Kind{o.differential, made<DifferentialStage>},
      Kind{o.exclusive, made<ExclusiveStage>},
      Kind{o.gate != OutputGate::none, made<GateStage>}};
  for (const auto& [wanted, make] : kinds)
    if (wanted) stages_.push_back(make(owner, place));
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

torch::Tensor* Projections::by_head(size_t which) {
  const size_t first = parts_ == Parts::keys_and_values ? 1 : 0;
  const size_t last = parts_ == Parts::queries ? 0 : 2;
  if (which < first || which > last) return nullptr;
  if (by_head_.empty()) {
    const std::array widths{heads_.query_width(), heads_.key_width(), heads_.value_width()};
    const auto own = c10::IntArrayRef(widths).slice(first, last - first + 1);
    by_head_ = own.size() == 1 ? std::vector{packed_} : packed_.split_with_sizes(own, -1);
    for (size_t i = 0; i < by_head_.size(); ++i)
      by_head_[i] =
          by_head_[i].unflatten(-1, {first + i == 0 ? heads_.count : heads_.key_values, -1});
  }
  return &by_head_[which - first];
}

torch::Tensor Projections::packed() const {
  if (by_head_.empty()) return packed_;
  std::vector<torch::Tensor> flat;
  for (const auto& part : by_head_) flat.push_back(part.flatten(-2));
  return flat.size() == 1 ? flat.front() : torch::cat(flat, -1);
}

Heads Projections::heads() const {
  auto heads = heads_;
  if (!by_head_.empty()) heads.d_k = by_head_.front().size(-1);  // of queries or keys
  return heads;
}

}  // namespace ablate::models
