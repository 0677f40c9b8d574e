#include <ATen/ops/linalg_solve_triangular.h>

#include <cmath>

#include "models/linear.h"
#include "models/mixers/state_mixer.h"
#include "models/ops/elementwise.h"
#include "models/residual.h"

namespace ablate::models {
namespace {

/// Temperature of the forget gate: heads start by keeping nearly everything (Sun et al. 2024).
constexpr double kTemperature = 16;

/// 1, 2, 3, ... // [B, H, T, K] -> [T]
torch::Tensor numbered(const torch::Tensor& x) {
  return torch::ones_like(x.select(0, 0).select(0, 0).select(-1, 0)).cumsum(0);
}

/// elu(x) + 1 (Katharopoulos et al. 2020, equation 7) without its rounding to zero below -17.
torch::Tensor feature(const torch::Tensor& x) { return x.relu() + x.clamp_max(0).exp(); }

/// How much of a state each position keeps.
class Decay {
 public:
  /// Registers with `owner` the rates of its heads, log_kept, or its gate, keep.
  Decay(Module& owner, Forgetting kind, int64_t heads, const StackOptions& stack)
      : kind_(kind), heads_(heads) {
    if (kind == Forgetting::fixed)
      rates_ = owner.register_buffer(
          "log_kept", torch::log1p(-torch::exp2(-5 - torch::arange(heads, torch::kFloat))));
    if (kind == Forgetting::gated)
      keep_ =
          owner.register_module("keep", Linear(stack.d_model, heads, true, Projection::head_gate));
    if (kind == Forgetting::channels)
      keep_ = owner.register_module("keep",
                                    Linear(stack.d_model, stack.d_model, true, Projection::query));
  }

  /// `StateHeads::log_kept` of positions x with these queries. // [B, T, D], [B, H, T, K]
  torch::Tensor log_kept(const torch::Tensor& x, const torch::Tensor& query) const {
    if (kind_ == Forgetting::none) return {};
    if (kind_ == Forgetting::fixed)
      return torch::ones_like(query.narrow(-1, 0, 1)) * rates(query);  // [B, H, T, 1]
    const auto gates = ops::wide(keep_->forward(x));
    return ops::split_heads(torch::log_sigmoid(gates) / kTemperature, heads_);
  }
  /// The same at one position of each head, with a fixed decay. // -> [H, 1, 1]
  torch::Tensor rates(const torch::Tensor& like) const {
    return rates_.to(like.scalar_type()).view({-1, 1, 1});
  }

 private:
  Forgetting kind_;
  int64_t heads_;
  Linear keep_{nullptr};
  torch::Tensor rates_;  // [H]
};

class LinearAttentionMixer : public StateMixer {
 public:
  LinearAttentionMixer(const LinearAttention& options, const StackOptions& stack)
      : StateMixer(options.decay),
        kind_(options.decay),
        heads_(options.heads),
        causal_(stack.causal),
        qkv_(register_module("qkv", Linear(stack.d_model, std::vector(3, stack.d_model), stack.bias,
                                           Projection::qkv))),
        out_(register_module("out",
                             Linear(stack.d_model, stack.d_model, stack.bias, Projection::output))),
        decay_(*this, kind_, heads_, stack) {
    if (kind_ != Forgetting::none)
      gate_ = register_module("gate",
                              Linear(stack.d_model, stack.d_model, stack.bias, Projection::query));
  }

  torch::Tensor forward(const torch::Tensor& x, const ops::AttentionPosition& position,
                        const ForwardContext& context) override {
    if (causal_) return StateMixer::forward(x, position, context);
    auto heads = projected(x, nullptr);
    auto &query = heads.query, &key = heads.key;
    if (const auto& padding_mask = context.padding_mask; padding_mask.defined())
      key = key.masked_fill(padding_mask.logical_not().unsqueeze(1).unsqueeze(-1), 0.0);
    auto weights = query.matmul(key.transpose(2, 3));  // [B, H, T, T]
    if (kind_ == Forgetting::fixed) {
      const auto place = numbered(query);  // [T]
      weights = weights * (decay_.rates(query) * (place.unsqueeze(1) - place).abs()).exp();
    }
    const auto found = mean(weights.matmul(heads.value), weights.sum(-1, /*keepdim=*/true));
    return finished(x, heads, found, context.observer);
  }

  KVCache empty_cache(const torch::Tensor& like) const override {
    const int64_t width = like.size(-1) / heads_;
    const auto state = empty_state(like, heads_, width, width);
    return {.blocks = {{state, state.narrow(-1, 0, 1)}}};
  }

 private:
  StateHeads projected(const torch::Tensor& x, KVCache* cache) const override {
    const auto parts = ops::wide(convolved(qkv_->forward(x), cache)).chunk(3, -1);
    const auto query = ops::split_heads(parts[0], heads_), key = ops::split_heads(parts[1], heads_);
    const auto value = ops::split_heads(parts[2], heads_);
    if (kind_ == Forgetting::none) return {feature(query), feature(key), value};
    return {.query = query / std::sqrt(static_cast<double>(query.size(-1))),
            .key = key,
            .value = value,
            .log_kept = decay_.log_kept(x, query),
            .gate = gate_->forward(x)};
  }

  /// The state is the sums of values [B, H, K, K] and of ones [B, H, K, 1], by key.
  torch::Tensor read(const StateHeads& heads, KVCache::Block& state) const override {
    const Kept kept(heads);
    auto& [values, ones] = state;
    const auto weights = kept.products(heads.query, heads.key);
    const auto query = kept.of_state(heads.query);
    const auto seen = weights.matmul(heads.value) + query.matmul(values);
    const auto total = weights.sum(-1, /*keepdim=*/true) + query.matmul(ones);
    values = kept.state_after(values, heads.key, heads.value);
    ones = kept.state_after(ones, heads.key, torch::ones_like(heads.value.narrow(-1, 0, 1)));
    return mean(seen, total);
  }

  /// Sums of values over that of their weights, which without decay are positive unless all of them
  /// are too small for a float.
  torch::Tensor mean(const torch::Tensor& values, const torch::Tensor& weights) const {
    const bool positive = kind_ == Forgetting::none;
    return values / (positive ? weights.clamp_min(1e-20) : weights.abs().clamp_min(1.0));
  }

  torch::Tensor finished(const torch::Tensor& x, const StateHeads& heads,
                         const torch::Tensor& found, const Observer* observer) const override {
    const auto mixed = ops::join_heads(found).to(x.scalar_type());
    const auto gated = heads.gate.defined() ? mixed * torch::silu(heads.gate) : mixed;
    return out_->forward(observed_heads(gated, heads_, observer));
  }

  Forgetting kind_;
  int64_t heads_;
  bool causal_;
  Linear qkv_, out_, gate_{nullptr};
  Decay decay_;
};

class DeltaRuleMixer : public StateMixer {
 public:
  DeltaRuleMixer(const DeltaRule& options, const StackOptions& stack)
      : StateMixer(options.decay),
        heads_(options.heads),
        width_(stack.d_model),
        values_(options.value_width(width_)),
        silu_(options.silu),
        qkv_(register_module("qkv", Linear(width_, std::vector{width_, width_, values_}, stack.bias,
                                           Projection::qkv))),
        write_(
            register_module("write", Linear(stack.d_model, heads_, true, Projection::head_gate))),
        out_(register_module("out", Linear(values_, width_, stack.bias, Projection::output))),
        decay_(*this, options.decay, heads_, stack) {
    if (!options.output_gate) return;
    norm_ = register_module("output_norm", make_inner_norm(NormKind::rms, values_ / heads_, stack));
    gate_ = register_module("gate", Linear(width_, values_, stack.bias, Projection::query));
  }

  KVCache empty_cache(const torch::Tensor& like) const override {
    return {.blocks = {{empty_state(like, heads_, width_ / heads_, values_ / heads_), {}}}};
  }

 private:
  StateHeads projected(const torch::Tensor& x, KVCache* cache) const override {
    const auto mixed = ops::wide(convolved(qkv_->forward(x), cache));
    const auto parts =
        (silu_ ? torch::silu(mixed) : mixed).split_with_sizes({width_, width_, values_}, -1);
    const auto query = unit(ops::split_heads(parts[0], heads_));
    return {.query = query,
            .key = unit(ops::split_heads(parts[1], heads_)),
            .value = ops::split_heads(parts[2], heads_),
            .strength = ops::split_heads(ops::wide(write_->forward(x)).sigmoid(), heads_),
            .log_kept = decay_.log_kept(x, query),
            .gate = gate_ ? gate_->forward(x) : torch::Tensor()};
  }

  /// The update of a position is its value minus the value still stored under its key, so all
  /// updates together solve one triangular system (Yang et al. 2024, section 3).
  torch::Tensor read(const StateHeads& heads, KVCache::Block& state) const override {
    const auto &query = heads.query, &key = heads.key, &value = heads.value;
    const auto& strength = heads.strength;
    const Kept kept(heads);
    auto& stored = state[0];  // [B, H, K, W]
    const auto overlap = (strength * kept.products(key, key)).tril(-1);
    const auto written =
        at::linalg_solve_triangular(overlap, strength * (value - kept.of_state(key).matmul(stored)),
                                    /*upper=*/false, /*left=*/true, /*unitriangular=*/true);
    const auto found =
        kept.products(query, key).matmul(written) + kept.of_state(query).matmul(stored);
    stored = kept.state_after(stored, key, written);
    return found;
  }

  torch::Tensor finished(const torch::Tensor& x, const StateHeads& heads,
                         const torch::Tensor& found, const Observer* observer) const override {
    const auto read = ops::join_heads(norm_ ? norm_->forward(found) : found).to(x.scalar_type());
    const auto gated = heads.gate.defined() ? read * torch::silu(heads.gate) : read;
    return out_->forward(observed_heads(gated, heads_, observer));
  }

  static torch::Tensor unit(const torch::Tensor& x) {
    return x * (x.square().sum(-1, /*keepdim=*/true) + 1e-6).rsqrt();
  }

  int64_t heads_, width_, values_;  // values_: of all heads together
  bool silu_;
  Linear qkv_, write_, out_, gate_{nullptr};
  Norm norm_{nullptr};
  Decay decay_;
};

}  // namespace

std::shared_ptr<Mixer> LinearAttention::make(const StackOptions& stack) const {
  return std::make_shared<LinearAttentionMixer>(*this, stack);
}
std::shared_ptr<Mixer> DeltaRule::make(const StackOptions& stack) const {
  return std::make_shared<DeltaRuleMixer>(*this, stack);
}

}  // namespace ablate::models
