#include "models/attention.h"

#include <cmath>

namespace ablate::models {
namespace {

bool is_watched(const Observer* observer) { return observer != nullptr && observer->attention; }

/// The values, after their probabilities were shown to whoever watches.
torch::Tensor observed_values(const ops::AttentionOutput& output, const Observer* observer) {
  if (is_watched(observer)) observer->attention(output.probabilities);
  return output.values;
}

/// What queries are multiplied by, where the model's parametrization wants other scores than those
/// of its d_k.
double query_scale_of(const MultiHead& options, const StackOptions& stack) {
  if (options.d_k) return 1;
  return std::sqrt(static_cast<double>(base_width_of(stack.parametrization, stack.d_model)) /
                   static_cast<double>(stack.d_model));
}

/// Projections whose first `width` dimensions are queries, with these scaled. // [B, T, ..]
torch::Tensor with_scaled_queries(const torch::Tensor& x, int64_t width, double scale) {
  if (scale == 1) return x;
  const auto query = x.narrow(-1, 0, width) * scale;
  return width == x.size(-1) ? query
                             : torch::cat({query, x.narrow(-1, width, x.size(-1) - width)}, -1);
}

}  // namespace

ops::Heads heads_of(const MultiHead& options, int64_t d_model) {
  return {.count = options.heads,
          .key_values = options.key_value_heads.value_or(options.heads),
          .d_k = options.d_k.value_or(d_model / options.heads),
          .d_v = options.d_v.value_or(d_model / options.heads)};
}

SelfAttention::SelfAttention(const MultiHead& options, const StackOptions& stack)
    : heads_(heads_of(options, stack.d_model)),
      query_scale_(query_scale_of(options, stack)),
      causal_(stack.causal),
      qkv_(register_module(
          "qkv", Linear(stack.d_model,
                        std::vector{heads_.query_width(), heads_.key_width(), heads_.value_width()},
                        stack.bias))),
      out_(register_module("out", Linear(heads_.count * heads_.d_v, std::vector{stack.d_model},
                                         stack.bias, InBranch::last))) {}

torch::Tensor SelfAttention::forward(const torch::Tensor& x, const torch::Tensor& padding_mask,
                                     const ops::AttentionPosition& position,
                                     const Observer* observer) {
  return out_(observed_values(
      ops::attention({.query = with_scaled_queries(qkv_(x), heads_.query_width(), query_scale_),
                      .heads = heads_,
                      .padding_mask = padding_mask,
                      .position = position,
                      .causal = causal_,
                      .wants_probabilities = is_watched(observer)}),
      observer));
}

torch::Tensor SelfAttention::step(const torch::Tensor& x, KVCache& cache,
                                  const ops::AttentionPosition& position) {
  return out_(
      ops::attention({.query = with_scaled_queries(qkv_(x), heads_.query_width(), query_scale_),
                      .heads = heads_,
                      .position = position,
                      .causal = true},
                     cache)
          .values);
}

KVCache SelfAttention::empty_cache(const torch::Tensor& like) const {
  return ops::empty_cache(like, heads_);
}

CrossAttentionImpl::CrossAttentionImpl(const MultiHead& options, const StackOptions& stack)
    : heads_(heads_of(options, stack.d_model)),
      query_scale_(query_scale_of(options, stack)),
      query_(register_module("query",
                             Linear(stack.d_model, std::vector{heads_.query_width()}, stack.bias))),
      key_value_(register_module(
          "key_value", Linear(stack.d_model, std::vector{heads_.key_width(), heads_.value_width()},
                              stack.bias))),
      out_(register_module("out", Linear(heads_.count * heads_.d_v, std::vector{stack.d_model},
                                         stack.bias, InBranch::last))) {}

torch::Tensor CrossAttentionImpl::forward(const torch::Tensor& x, const torch::Tensor& memory,
                                          const torch::Tensor& padding_mask,
                                          const Observer* observer) {
  return out_(observed_values(
      ops::attention({.query = with_scaled_queries(query_(x), heads_.query_width(), query_scale_),
                      .key_value = key_value_(memory),
                      .heads = heads_,
                      .padding_mask = padding_mask,
                      .wants_probabilities = is_watched(observer)}),
      observer));
}

KVCache CrossAttentionImpl::project(const torch::Tensor& memory) {
  return ops::cache_of(key_value_(memory), heads_);
}

torch::Tensor CrossAttentionImpl::step(const torch::Tensor& x, KVCache& memory,
                                       const torch::Tensor& padding_mask,
                                       const Observer* observer) {
  return out_(observed_values(
      ops::attention({.query = with_scaled_queries(query_(x), heads_.query_width(), query_scale_),
                      .heads = heads_,
                      .padding_mask = padding_mask,
                      .wants_probabilities = is_watched(observer)},
                     memory),
      observer));
}

}  // namespace ablate::models
