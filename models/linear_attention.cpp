#include <ATen/ops/linalg_solve_triangular.h>

#include <cmath>

#include "models/linear.h"
#include "models/mixer.h"
#include "models/ops/backend.h"
#include "models/ops/elementwise.h"

namespace ablate::models {
namespace {

/// Temperature of the forget gate: heads start by keeping nearly everything (Sun et al. 2024).
constexpr double kTemperature = 16;

/// x [B, T, H K] as heads. // [B, H, T, K]
torch::Tensor heads_first(const torch::Tensor& x, int64_t heads) {
  return x.unflatten(-1, {heads, -1}).transpose(1, 2);
}

torch::Tensor heads_last(const torch::Tensor& x) { return x.transpose(1, 2).flatten(2); }

/// Zeros of a matrix for each head. // [B, T, D] -> [B, H, D / H, D / H]
torch::Tensor empty_state(const torch::Tensor& like, int64_t heads) {
  const auto one = heads_first(ops::wide(like).narrow(1, 0, 1), heads);  // [B, H, 1, K]
  return torch::zeros_like(one).transpose(2, 3) * torch::zeros_like(one);
}

/// 1, 2, 3, ... // [B, H, T, K] -> [T]
torch::Tensor numbered(const torch::Tensor& x) {
  return torch::ones_like(x.select(0, 0).select(0, 0).select(-1, 0)).cumsum(0);
}

/// The inputs of every head at some positions, in full precision. // [B, H, T, K]
struct Heads {
  torch::Tensor query, key, value;
  torch::Tensor strength = {};  // of writing; undefined: 1 // [B, H, T, 1]
  /// Logarithm of the share of the state, by key, that each position keeps; undefined: all of it.
  torch::Tensor log_kept = {};  // [B, H, T, 1 or K]
};

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
      keep_ = owner.register_module(
          "keep", Linear(stack.d_model, std::vector{heads}, true, Projection::head_gate));
    if (kind == Forgetting::channels)
      keep_ = owner.register_module(
          "keep", Linear(stack.d_model, std::vector{stack.d_model}, true, Projection::query));
  }

  /// `Heads::log_kept` of positions x with these queries. // [B, T, D], [B, H, T, K]
  torch::Tensor log_kept(const torch::Tensor& x, const torch::Tensor& query) const {
    if (kind_ == Forgetting::none) return {};
    if (kind_ == Forgetting::fixed)
      return torch::ones_like(query.narrow(-1, 0, 1)) * rates(query);  // [B, H, T, 1]
    const auto gates = ops::wide(keep_->forward(x));
    return heads_first(torch::log_sigmoid(gates) / kTemperature, heads_);
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

/// The decays of the positions of one chunk: the products of what they keep, as logarithms, from
/// the first position on; undefined: nothing decays. // [B, H, T, 1 or K]
class Kept {
 public:
  explicit Kept(const torch::Tensor& log_kept)
      : log_(log_kept.defined() ? log_kept.cumsum(2) : log_kept) {}

  /// Products of queries with the keys up to their own positions, times what is kept in between.
  /// // [B, H, T, K] twice -> [B, H, T, T]
  torch::Tensor products(const torch::Tensor& query, const torch::Tensor& key) const {
    if (log_.defined() && log_.size(-1) > 1) {
      const auto between = (log_.unsqueeze(2) - log_.unsqueeze(3)).clamp_max(0.0).exp();
      const auto by_key = (between * query.unsqueeze(2)).matmul(key.unsqueeze(-1));
      return by_key.squeeze(-1).transpose(2, 3).tril();  // from [B, H, keys, queries, 1]
    }
    const auto all = query.matmul(key.transpose(2, 3)).tril();
    return log_.defined() ? all * (log_ - log_.transpose(2, 3)).tril().exp() : all;
  }
  /// x, which reads the state before the chunk. // [B, H, T, K]
  torch::Tensor of_state(const torch::Tensor& x) const {
    return log_.defined() ? x * log_.exp() : x;
  }
  /// A state [B, H, K, W] behind the chunk, under whose keys the values were written.
  /// // [B, H, T, K], [B, H, T, W]
  torch::Tensor state_after(const torch::Tensor& state, const torch::Tensor& key,
                            const torch::Tensor& value) const {
    if (!log_.defined()) return state + key.transpose(2, 3).matmul(value);
    const auto last = log_.slice(2, -1);  // [B, H, 1, 1 or K]
    return state * last.transpose(2, 3).exp() +
           (key * (last - log_).exp()).transpose(2, 3).matmul(value);
  }

 private:
  torch::Tensor log_;
};

/// The positions in chunks of at most `most`, which are read one after another.
std::vector<Heads> chunks_of(const Heads& all, int64_t most) {
  const int64_t positions = all.query.size(2);
  const int64_t length = ops::positions_at_once(most, positions);
  if (length >= positions) return {all};
  std::vector<Heads> chunks;
  for (int64_t begin = 0; begin < positions; begin += length) {
    const auto part = [&](const torch::Tensor& x) {
      return x.defined() ? x.slice(2, begin, begin + length) : x;
    };
    chunks.push_back(
        {part(all.query), part(all.key), part(all.value), part(all.strength), part(all.log_kept)});
  }
  return chunks;
}

/// A mixer whose heads read and change a matrix from left to right.
class StateMixer : public Mixer {
 public:
  explicit StateMixer(Forgetting decay) : chunk_(chunk_length(decay)) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor&, const ops::AttentionPosition&,
                        const Observer* observer) override {
    auto cache = empty_cache(x);
    return continued(x, cache, observer);
  }
  torch::Tensor step(const torch::Tensor& x, KVCache& cache,
                     const ops::AttentionPosition&) override {
    return continued(x, cache, nullptr);
  }

 private:
  virtual Heads projected(const torch::Tensor& x, KVCache* cache) const = 0;
  /// What the heads of a chunk read, after which `state` is that behind it. // -> [B, H, T, K]
  virtual torch::Tensor read(const Heads& heads, KVCache::Block& state) const = 0;
  /// [B, T, D], [B, H, T, K] -> [B, T, D]
  virtual torch::Tensor finished(const torch::Tensor& x, const torch::Tensor& heads,
                                 const Observer* observer) const = 0;

  torch::Tensor continued(const torch::Tensor& x, KVCache& cache, const Observer* observer) {
    const auto all = projected(x, &cache);
    auto state = cache.concatenate();
    std::vector<torch::Tensor> parts;
    for (const auto& chunk : chunks_of(all, chunk_)) parts.push_back(read(chunk, state));
    cache.blocks = {state};
    return finished(x, parts.size() == 1 ? parts.front() : torch::cat(parts, 2), observer);
  }

  int64_t chunk_;
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
        out_(register_module("out", Linear(stack.d_model, std::vector{stack.d_model}, stack.bias,
                                           Projection::output))),
        decay_(*this, kind_, heads_, stack) {
    if (kind_ != Forgetting::none)
      gate_ = register_module(
          "gate", Linear(stack.d_model, std::vector{stack.d_model}, stack.bias, Projection::query));
  }

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& padding_mask,
                        const ops::AttentionPosition& position, const Observer* observer) override {
    if (causal_) return StateMixer::forward(x, padding_mask, position, observer);
    auto [query, key, value, strength, log_kept] = projected(x, nullptr);
    if (padding_mask.defined())
      key = key.masked_fill(padding_mask.logical_not().unsqueeze(1).unsqueeze(-1), 0.0);
    auto weights = query.matmul(key.transpose(2, 3));  // [B, H, T, T]
    if (kind_ == Forgetting::fixed) {
      const auto place = numbered(query);  // [T]
      weights = weights * (decay_.rates(query) * (place.unsqueeze(1) - place).abs()).exp();
    }
    return finished(x, mean(weights.matmul(value), weights.sum(-1, /*keepdim=*/true)), observer);
  }

  KVCache empty_cache(const torch::Tensor& like) const override {
    const auto state = empty_state(like, heads_);
    return {.blocks = {{state, state.narrow(-1, 0, 1)}}};
  }

 private:
  Heads projected(const torch::Tensor& x, KVCache* cache) const override {
    const auto parts = ops::wide(convolved(qkv_->forward(x), cache)).chunk(3, -1);
    const auto query = heads_first(parts[0], heads_), key = heads_first(parts[1], heads_);
    const auto value = heads_first(parts[2], heads_);
    if (kind_ == Forgetting::none) return {torch::elu(query) + 1, torch::elu(key) + 1, value};
    return {query / std::sqrt(static_cast<double>(query.size(-1))),
            key,
            value,
            {},
            decay_.log_kept(x, query)};
  }

  /// The state is the sums of values [B, H, K, K] and of ones [B, H, K, 1], by key.
  torch::Tensor read(const Heads& heads, KVCache::Block& state) const override {
    const Kept kept(heads.log_kept);
    auto& [values, ones] = state;
    const auto weights = kept.products(heads.query, heads.key);
    const auto query = kept.of_state(heads.query);
    const auto seen = weights.matmul(heads.value) + query.matmul(values);
    const auto total = weights.sum(-1, /*keepdim=*/true) + query.matmul(ones);
    values = kept.state_after(values, heads.key, heads.value);
    ones = kept.state_after(ones, heads.key, torch::ones_like(heads.value.narrow(-1, 0, 1)));
    return mean(seen, total);
  }

  /// Sums of values over that of their weights, which without decay are positive.
  torch::Tensor mean(const torch::Tensor& values, const torch::Tensor& weights) const {
    return values / (kind_ == Forgetting::none ? weights : weights.abs().clamp_min(1.0));
  }

  torch::Tensor finished(const torch::Tensor& x, const torch::Tensor& heads,
                         const Observer* observer) const override {
    const auto mixed = heads_last(heads).to(x.scalar_type());
    const auto gated = gate_ ? mixed * torch::silu(gate_->forward(x)) : mixed;
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
        qkv_(register_module("qkv", Linear(stack.d_model, std::vector(3, stack.d_model), stack.bias,
                                           Projection::qkv))),
        write_(register_module(
            "write", Linear(stack.d_model, std::vector{heads_}, true, Projection::head_gate))),
        out_(register_module("out", Linear(stack.d_model, std::vector{stack.d_model}, stack.bias,
                                           Projection::output))),
        decay_(*this, options.decay, heads_, stack) {}

  KVCache empty_cache(const torch::Tensor& like) const override {
    return {.blocks = {{empty_state(like, heads_), {}}}};
  }

 private:
  Heads projected(const torch::Tensor& x, KVCache* cache) const override {
    const auto parts = ops::wide(convolved(qkv_->forward(x), cache)).chunk(3, -1);
    const auto query = unit(heads_first(parts[0], heads_));
    return {query, unit(heads_first(parts[1], heads_)), heads_first(parts[2], heads_),
            heads_first(ops::wide(write_->forward(x)).sigmoid(), heads_),
            decay_.log_kept(x, query)};
  }

  /// The update of a position is its value minus the value still stored under its key, so all
  /// updates together solve one triangular system (Yang et al. 2024, section 3).
  torch::Tensor read(const Heads& heads, KVCache::Block& state) const override {
    const auto& [query, key, value, strength, log_kept] = heads;
    const Kept kept(log_kept);
    auto& stored = state[0];  // [B, H, K, K]
    const auto overlap = (strength * kept.products(key, key)).tril(-1);
    const auto written =
        at::linalg_solve_triangular(overlap, strength * (value - kept.of_state(key).matmul(stored)),
                                    /*upper=*/false, /*left=*/true, /*unitriangular=*/true);
    const auto found =
        kept.products(query, key).matmul(written) + kept.of_state(query).matmul(stored);
    stored = kept.state_after(stored, key, written);
    return found;
  }

  torch::Tensor finished(const torch::Tensor& x, const torch::Tensor& heads,
                         const Observer* observer) const override {
    return out_->forward(observed_heads(heads_last(heads).to(x.scalar_type()), heads_, observer));
  }

  static torch::Tensor unit(const torch::Tensor& x) {
    return x * (x.square().sum(-1, /*keepdim=*/true) + 1e-6).rsqrt();
  }

  int64_t heads_;
  Linear qkv_, write_, out_;
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
