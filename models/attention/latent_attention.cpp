#include <ATen/ops/einsum.h>

#include <cmath>

#include "models/linear.h"
#include "models/mixer.h"
#include "models/residual.h"

namespace ablate::models {
namespace {

// B batch, T queries, S keys, H heads, P width of the shared part of keys, K width of a head's own
// part, R rank of keys and values, W width of a value

/// Multi-head latent attention (DeepSeek-AI 2024, arXiv 2405.04434, section 2.1). Training expands
/// the latents to keys and values of every head. Decoding keeps the latents, and multiplies queries
/// and outputs by the matrices that would expand them (its appendix B).
class LatentAttention : public ScoredMixer {
 public:
  LatentAttention(const Latent& options, const StackOptions& stack)
      : widths_(widths_of(options, stack.d_model)),
        causal_(stack.causal),
        dropout_(options.dropout),
        factor_(query_factor_of({.heads = options.heads, .d_k = options.d_k}, stack)),
        latent_(register_module(
            "latent", Linear(stack.d_model, std::vector{widths_.rank, widths_.shared}, stack.bias,
                             Projection::query))),
        latent_norm_(
            register_module("latent_norm", make_inner_norm(NormKind::rms, widths_.rank, stack))),
        expand_(register_module(
            "expand", Linear(widths_.rank,
                             std::vector{widths_.heads * widths_.d_k, widths_.heads * widths_.d_v},
                             false, Projection::qkv))),
        out_(register_module("out", Linear(widths_.heads * widths_.d_v, stack.d_model, stack.bias,
                                           Projection::output))) {
    const std::vector query{widths_.heads * (widths_.shared + widths_.d_k)};
    if (options.query_rank) {
      query_latent_ = register_module("query_latent", Linear(stack.d_model, *options.query_rank,
                                                             stack.bias, Projection::query));
      query_norm_ =
          register_module("query_norm", make_inner_norm(NormKind::rms, *options.query_rank, stack));
    }
    query_ = register_module("query", Linear(options.query_rank.value_or(stack.d_model), query,
                                             stack.bias, Projection::query));
    query_->makes_queries(widths_.shared + widths_.d_k);
  }

  torch::Tensor forward(const torch::Tensor& x, const ops::AttentionPosition& position,
                        const ForwardContext& context) override {
    const auto [latent, shared] = compressed(x);
    const auto expanded = expand_(latent).split_with_sizes(
        {widths_.heads * widths_.d_k, widths_.heads * widths_.d_v}, -1);
    const auto keys = torch::cat({shared.unsqueeze(2).expand({-1, -1, widths_.heads, -1}),
                                  expanded[0].unflatten(-1, {widths_.heads, -1})},
                                 -1);  // [B, T, H, P + K]
    const ops::AttentionInput input{
        .query = torch::cat({queries(x), keys.flatten(2), expanded[1]}, -1),
        .heads = {.count = widths_.heads,
                  .key_values = widths_.heads,
                  .d_k = widths_.shared + widths_.d_k,
                  .d_v = widths_.d_v},
        .position = position,
        .causal = causal_,
        .dropout = context.dropout_at(site(), dropout_)};
    return out_(observed_heads(attended(input, context), widths_.heads, context.observer));
  }

  void clip_scores(const torch::Tensor& largest, double most) override {
    const auto factor = clip_factor(largest, most).unsqueeze(1);  // [H, 1]
    const auto own = factor.sqrt().expand({-1, widths_.d_k});     // [H, K]
    query_->scale_outputs(0, torch::cat({factor.expand({-1, widths_.shared}), own}, 1).flatten());
    expand_->scale_outputs(0, own.flatten());
  }

  KVCache empty_cache(const torch::Tensor& like) const override {
    const auto none = like.narrow(1, 0, 0).narrow(-1, 0, 1).unsqueeze(1);  // [B, 1, 0, 1]
    return {.blocks = {{none.expand({-1, -1, -1, widths_.shared + widths_.rank}), {}}}};
  }

  torch::Tensor step(const torch::Tensor& x, KVCache& cache, const ops::AttentionPosition& position,
                     const ForwardContext&) override {
    const auto [latent, shared] = compressed(x);
    const auto turned = ops::rotate(shared.unsqueeze(1), position.rotation);  // [B, 1, T, P]
    const auto all =
        torch::cat({cache.concatenate()[0], torch::cat({turned, latent.unsqueeze(1)}, -1)}, 2);
    cache.blocks = {{all, {}}};  // [B, 1, S, P + R]
    KVCache memory{.blocks = {{all, all.slice(-1, widths_.shared)}}};
    const auto read = ops::attention({.query = absorbed(queries(x)),
                                      .heads = {.count = widths_.heads,
                                                .key_values = 1,
                                                .d_k = widths_.shared + widths_.rank,
                                                .d_v = widths_.rank},
                                      .position = position,
                                      .causal = true},
                                     memory);
    return out_(torch::einsum("bthr,hwr->bthw", {read.values.unflatten(-1, {widths_.heads, -1}),
                                                 expansion(1, x.scalar_type())})
                    .flatten(2));
  }

 private:
  /// Latents, of which keys and values are made, and the shared part of keys.
  /// // [B, T, D] -> [B, T, R], [B, T, P]
  std::pair<torch::Tensor, torch::Tensor> compressed(const torch::Tensor& x) {
    const auto parts = latent_(x).split_with_sizes({widths_.rank, widths_.shared}, -1);
    return {latent_norm_(parts[0]), parts[1]};
  }

  torch::Tensor queries(const torch::Tensor& x) {  // [B, T, D] -> [B, T, H(P + K)]
    const auto low = query_latent_ ? query_norm_(query_latent_(x)) : x;
    return factor_ == 1 ? query_(low) : query_(low) * factor_;
  }

  /// The matrices of the keys (0) or of the values (1). // [H, K or W, R]
  torch::Tensor expansion(size_t part, torch::ScalarType type) const {
    return expand_->merged_weight()
        .split_with_sizes({widths_.heads * widths_.d_k, widths_.heads * widths_.d_v})[part]
        .unflatten(0, {widths_.heads, -1})
        .to(type);
  }

  /// Queries of latents, whose products are those of `query` with the keys.
  /// // [B, T, H(P + K)] -> [B, T, H(P + R)]
  torch::Tensor absorbed(const torch::Tensor& query) const {
    const auto parts = query.unflatten(-1, {widths_.heads, -1})
                           .split_with_sizes({widths_.shared, widths_.d_k}, -1);
    const auto of_latents =
        torch::einsum("bthk,hkr->bthr", {parts[1], expansion(0, query.scalar_type())});
    // Scores are divided by the root of the longer width.
    const double factor = std::sqrt(static_cast<double>(widths_.shared + widths_.rank) /
                                    static_cast<double>(widths_.shared + widths_.d_k));
    return (torch::cat({parts[0], of_latents}, -1) * factor).flatten(2);
  }

  LatentWidths widths_;
  bool causal_;
  double dropout_;  // of weights
  double factor_;   // of queries
  Linear query_latent_{nullptr}, query_{nullptr}, latent_;
  Norm query_norm_{nullptr}, latent_norm_;
  Linear expand_, out_;
};

}  // namespace

std::shared_ptr<Mixer> Latent::make(const StackOptions& stack) const {
  return std::make_shared<LatentAttention>(*this, stack);
}

}  // namespace ablate::models
