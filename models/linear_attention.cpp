#include <ATen/ops/linalg_solve_triangular.h>

#include <cmath>

#include "models/linear.h"
#include "models/mixer.h"

namespace ablate::models {
namespace {

/// Temperature of the forget gate: heads start by keeping nearly everything (Sun et al. 2024).
constexpr double kTemperature = 16;

/// x [B, T, H K] as heads. // [B, H, T, K]
torch::Tensor heads_first(const torch::Tensor& x, int64_t heads) {
  return x.unflatten(-1, {heads, -1}).transpose(1, 2);
}

torch::Tensor heads_last(const torch::Tensor& x) { return x.transpose(1, 2).flatten(2); }

/// States are sums over many positions, so they must not be rounded to bfloat16.
torch::Tensor in_full_precision(const torch::Tensor& x) {
  return x.scalar_type() == torch::kDouble ? x : x.to(torch::kFloat);
}

/// Zeros of a matrix for each head. // [B, T, D] -> [B, H, D / H, D / H]
torch::Tensor empty_state(const torch::Tensor& like, int64_t heads) {
  const auto one = heads_first(in_full_precision(like).narrow(1, 0, 1), heads);  // [B, H, 1, K]
  return torch::zeros_like(one).transpose(2, 3) * torch::zeros_like(one);
}

/// 1, 2, 3, ... // [B, H, T, K] -> [T]
torch::Tensor numbered(const torch::Tensor& x) {
  return torch::ones_like(x.select(0, 0).select(0, 0).select(-1, 0)).cumsum(0);
}

/// Queries, keys and values of every head in full precision. // [B, H, T, K]
struct Heads {
  torch::Tensor query, key, value;
};

class LinearAttentionMixer : public Mixer {
 public:
  LinearAttentionMixer(const LinearAttention& options, const StackOptions& stack)
      : decay_(options.decay),
        heads_(options.heads),
        causal_(stack.causal),
        qkv_(register_module("qkv", Linear(stack.d_model, std::vector(3, stack.d_model), stack.bias,
                                           Projection::qkv))),
        out_(register_module("out", Linear(stack.d_model, std::vector{stack.d_model}, stack.bias,
                                           Projection::output))) {
    if (decay_ != Forgetting::none)
      gate_ = register_module(
          "gate", Linear(stack.d_model, std::vector{stack.d_model}, stack.bias, Projection::query));
    if (decay_ == Forgetting::gated)
      keep_ = register_module(
          "keep", Linear(stack.d_model, std::vector{heads_}, true, Projection::head_gate));
    const auto number = torch::arange(heads_, torch::kFloat);
    if (decay_ == Forgetting::fixed)
      log_kept_ = register_buffer("log_kept", torch::log1p(-torch::exp2(-5 - number)));
  }

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& padding_mask,
                        const ops::AttentionPosition&, const Observer* observer) override {
    if (causal_) {
      auto cache = empty_cache(x);
      return continued(x, cache, observer);
    }
    auto [query, key, value] = projected(x);
    if (padding_mask.defined())
      key = key.masked_fill(padding_mask.logical_not().unsqueeze(1).unsqueeze(-1), 0.0);
    auto weights = query.matmul(key.transpose(2, 3));  // [B, H, T, T]
    if (decay_ == Forgetting::fixed) {
      const auto place = numbered(query);  // [T]
      weights = weights * (rates(query) * (place.unsqueeze(1) - place).abs()).exp();
    }
    return finished(x, {weights.matmul(value), weights.sum(-1, /*keepdim=*/true)}, observer);
  }

  KVCache empty_cache(const torch::Tensor& like) const override {
    const auto state = empty_state(like, heads_);
    return {.blocks = {{state, state.narrow(-1, 0, 1)}}};
  }

  torch::Tensor step(const torch::Tensor& x, KVCache& cache,
                     const ops::AttentionPosition&) override {
    return continued(x, cache, nullptr);
  }

 private:
  /// Sums over the positions that a query sees: of values [B, H, T, K], and of their weights
  /// [B, H, T, 1].
  struct Sums {
    torch::Tensor values, weights;
  };

  torch::Tensor continued(const torch::Tensor& x, KVCache& cache, const Observer* observer) {
    auto [query, key, value] = projected(x);
    auto [state, sum] =
        cache.concatenate();  // of values [B, H, K, K] and of ones [B, H, K, 1], by key
    auto weights = query.matmul(key.transpose(2, 3)).tril();  // [B, H, T, T]
    if (decay_ != Forgetting::none) {
      const auto kept = log_kept_until(x, query);  // [B, H, T]
      const auto last = kept.slice(2, -1);         // [B, H, 1]
      weights = weights * (kept.unsqueeze(-1) - kept.unsqueeze(-2)).tril().exp();
      query = query * kept.exp().unsqueeze(-1);
      key = key * (last - kept).exp().unsqueeze(-1);
      state = state * last.exp().unsqueeze(-1);
      sum = sum * last.exp().unsqueeze(-1);
    }
    const auto& before = cache.concatenate();
    const auto seen = weights.matmul(value) + query.matmul(before[0]);
    const auto total = weights.sum(-1, /*keepdim=*/true) + query.matmul(before[1]);
    const auto by_key = key.transpose(2, 3);  // [B, H, K, T]
    cache.blocks = {{state + by_key.matmul(value), sum + by_key.sum(-1, /*keepdim=*/true)}};
    return finished(x, {seen, total}, observer);
  }

  Heads projected(const torch::Tensor& x) const {
    const auto parts = in_full_precision(qkv_->forward(x)).chunk(3, -1);
    const auto query = heads_first(parts[0], heads_), key = heads_first(parts[1], heads_);
    const auto value = heads_first(parts[2], heads_);
    if (decay_ == Forgetting::none) return {torch::elu(query) + 1, torch::elu(key) + 1, value};
    return {query / std::sqrt(static_cast<double>(query.size(-1))), key, value};
  }

  /// Logarithm of the share that each head keeps from one position to the next. // -> [H, 1, 1]
  torch::Tensor rates(const torch::Tensor& like) const {
    return log_kept_.to(like.scalar_type()).view({-1, 1, 1});
  }

  /// Logarithm of the share of the state before the first position that is left at each position.
  /// // [B, T, D], [B, H, T, K] -> [B, H, T]
  torch::Tensor log_kept_until(const torch::Tensor& x, const torch::Tensor& query) const {
    if (decay_ == Forgetting::gated)
      return (torch::log_sigmoid(in_full_precision(keep_->forward(x))) / kTemperature)
          .transpose(1, 2)
          .cumsum(2);
    const auto ones = torch::ones_like(query.select(-1, 0));  // [B, H, T]
    return ones.cumsum(2) * rates(query).squeeze(-1);
  }

  /// Sums of values over their weights' sum, gated if there is decay, and projected.
  torch::Tensor finished(const torch::Tensor& x, const Sums& sums,
                         const Observer* observer) const {  // -> [B, T, D]
    const bool positive = decay_ == Forgetting::none;
    const auto& total = sums.weights;
    const auto heads = heads_last(sums.values / (positive ? total : total.abs().clamp_min(1.0)));
    const auto mixed = heads.to(x.scalar_type());
    const auto gated = positive ? mixed : mixed * torch::silu(gate_->forward(x));
    return out_->forward(observed_heads(gated, heads_, observer));
  }

  Forgetting decay_;
  int64_t heads_;
  bool causal_;
  Linear qkv_, out_, gate_{nullptr}, keep_{nullptr};
  torch::Tensor log_kept_;  // [H]
};

class DeltaRuleMixer : public Mixer {
 public:
  DeltaRuleMixer(const DeltaRule& options, const StackOptions& stack)
      : heads_(options.heads),
        qkv_(register_module("qkv", Linear(stack.d_model, std::vector(3, stack.d_model), stack.bias,
                                           Projection::qkv))),
        write_(register_module(
            "write", Linear(stack.d_model, std::vector{heads_}, true, Projection::head_gate))),
        out_(register_module("out", Linear(stack.d_model, std::vector{stack.d_model}, stack.bias,
                                           Projection::output))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor&, const ops::AttentionPosition&,
                        const Observer* observer) override {
    auto cache = empty_cache(x);
    return continued(x, cache, observer);
  }

  KVCache empty_cache(const torch::Tensor& like) const override {
    return {.blocks = {{empty_state(like, heads_), {}}}};
  }

  torch::Tensor step(const torch::Tensor& x, KVCache& cache,
                     const ops::AttentionPosition&) override {
    return continued(x, cache, nullptr);
  }

 private:
  /// The update of a position is its value minus the value already stored under its key, so all
  /// updates together solve one triangular system (Yang et al. 2024, section 3).
  torch::Tensor continued(const torch::Tensor& x, KVCache& cache, const Observer* observer) {
    const auto parts = in_full_precision(qkv_->forward(x)).chunk(3, -1);
    const auto query = unit(heads_first(parts[0], heads_)),
               key = unit(heads_first(parts[1], heads_));
    const auto value = heads_first(parts[2], heads_);
    const auto strength = in_full_precision(write_->forward(x))
                              .sigmoid()
                              .transpose(1, 2)
                              .unsqueeze(-1);   // [B, H, T, 1]
    const auto state = cache.concatenate()[0];  // [B, H, K, K]
    const auto overlap = (strength * key.matmul(key.transpose(2, 3))).tril(-1);
    const auto written =
        at::linalg_solve_triangular(overlap, strength * (value - key.matmul(state)),
                                    /*upper=*/false, /*left=*/true, /*unitriangular=*/true);
    const auto scores = query.matmul(key.transpose(2, 3)).tril();
    cache.blocks = {{state + key.transpose(2, 3).matmul(written), {}}};
    const auto heads = scores.matmul(written) + query.matmul(state);  // [B, H, T, K]
    return out_->forward(observed_heads(heads_last(heads).to(x.scalar_type()), heads_, observer));
  }

  static torch::Tensor unit(const torch::Tensor& x) {
    return x * (x.square().sum(-1, /*keepdim=*/true) + 1e-6).rsqrt();
  }

  int64_t heads_;
  Linear qkv_, write_, out_;
};

}  // namespace

std::shared_ptr<Mixer> LinearAttention::make(const StackOptions& stack) const {
  return std::make_shared<LinearAttentionMixer>(*this, stack);
}
std::shared_ptr<Mixer> DeltaRule::make(const StackOptions& stack) const {
  return std::make_shared<DeltaRuleMixer>(*this, stack);
}

}  // namespace ablate::models
