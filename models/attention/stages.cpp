#include "models/attention/stages.h"

#include <array>

#include "models/ops/elementwise.h"
#include "models/residual.h"

namespace ablate::models {
namespace {

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

ops::Weighting weighting_of(const MultiHead& options) {
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

/// A layer has a vector e of every token, and a position's value becomes v + 2 sigmoid(W x) e, with
/// a factor for each head of keys and values (Karpathy 2026, nanochat; without the factor Jordan et
/// al. 2024, modded-nanogpt).
class ValueEmbeddingStage : public Stage {
 public:
  ValueEmbeddingStage(Module& owner, const StagePlace& place)
      : table_(owner.register_parameter(
            "value_embedding", {place.stack.vocabulary, place.heads().value_width()},
            Normal{1 / std::sqrt(place.stack.base_width())}, Role::embedding)),
        gate_(owner.register_module("value_gate",
                                    place.number_of_heads(place.heads().key_values, false))) {}

  void project(Projections& own, const StagePass& pass) override {
    auto& value = *own.value();
    const auto of_tokens = torch::embedding(table_, pass.context.token_ids)
                               .to(value.scalar_type())
                               .unflatten(-1, {value.size(-2), -1});          // [B, T, G, W]
    value = value + of_tokens * (gate_(pass.x).sigmoid() * 2).unsqueeze(-1);  // [B, T, G, 1]
  }

 private:
  torch::Tensor table_;  // [tokens, GW]
  Linear gate_;
};

/// Every position decides how much each head forgets of earlier ones: the score of query i and key
/// j gets the sum of ln sigmoid(w x_l + b) over l = j + 1 ... i, with w and b of a head of keys
/// (Lin et al. 2025, Forgetting Transformer, arXiv 2503.02130, section 3.1). Queries and keys get
/// the sums up to their own positions, whose differences the products add to the scores.
class ForgettingStage : public Stage {
 public:
  ForgettingStage(Module& owner, const StagePlace& place)
      : groups_(place.heads().key_values),
        root_(place.root()),
        longer_(std::sqrt(static_cast<double>(place.heads().d_k + kWidth))),
        forget_(owner.register_module("forget", place.number_of_heads(groups_, true))) {}

  void project(Projections& own, const StagePass& pass) override {
    auto &query = *own.query(), &key = *own.key();
    const auto terms = (sums(pass) * longer_).unsqueeze(-1);  // [B, T, G, 1]
    const auto rounded = terms.to(query.scalar_type());
    const auto rest = (terms - rounded).to(query.scalar_type());
    const auto ones = torch::ones_like(rounded);
    // Scores are divided by the root of the longer width.
    const auto grouped = query.unflatten(2, {groups_, -1}) * (longer_ / root_);
    const auto of_query = torch::cat({rounded, rest, ones, ones}, -1)
                              .unsqueeze(-2)
                              .expand({-1, -1, -1, grouped.size(3), -1});  // [B, T, G, M / G, 4]
    query = torch::cat({grouped, of_query}, -1).flatten(2, 3);
    key = torch::cat({key, ones, ones, -rounded, -rest}, -1);
  }

  void begin(KVCache& cache, const torch::Tensor& like) const override {
    auto& key = cache.blocks.front()[0];
    key = key.narrow(-1, 0, 1).expand({-1, -1, -1, key.size(-1) + kWidth});
    cache.state[kSums] = torch::zeros_like(ops::wide(like.select(1, 0))).narrow(-1, 0, groups_);
  }

 private:
  /// Elements of a query and of a key: a sum, rounded, and its rest, or their factors.
  static constexpr int64_t kWidth = 4;
  static constexpr const char* kSums = "forget";  // so far // [B, G]

  /// Sums of the gates' logarithms up to each position. // [B, T, G]
  torch::Tensor sums(const StagePass& pass) {
    const auto own = at::log_sigmoid(ops::wide(forget_(pass.x))).cumsum(1);
    if (pass.cache == nullptr) return own;
    auto& so_far = pass.cache->state[kSums];
    const auto all = own + so_far.unsqueeze(1);
    so_far = all.select(1, -1);
    return all;
  }

  int64_t groups_;
  double root_, longer_;  // of the width of keys, before and after
  Linear forget_;
};

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
