#include "models/attention.h"

namespace ablate::models {
namespace {

bool is_watched(const Observer* observer) { return observer != nullptr && observer->attention; }

/// The values, after their probabilities were shown to whoever watches.
torch::Tensor observed_values(const ops::AttentionOutput& output, const Observer* observer) {
  if (is_watched(observer)) observer->attention(output.probabilities);
  return output.values;
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
      causal_(stack.causal),
      qkv_(register_module(
          "qkv", Linear(stack.d_model,
                        std::vector{heads_.query_width(), heads_.key_width(), heads_.value_width()},
                        stack.bias))),
      out_(register_module(
          "out", Linear(heads_.count * heads_.d_v, std::vector{stack.d_model}, stack.bias))) {}

torch::Tensor SelfAttention::forward(const torch::Tensor& x, const torch::Tensor& padding_mask,
                                     const ops::AttentionPosition& position,
                                     const Observer* observer) {
  return out_(observed_values(ops::attention({.query = qkv_(x),
                                              .heads = heads_,
                                              .padding_mask = padding_mask,
                                              .position = position,
                                              .causal = causal_,
                                              .wants_probabilities = is_watched(observer)}),
                              observer));
}

torch::Tensor SelfAttention::step(const torch::Tensor& x, KVCache& cache,
                                  const ops::AttentionPosition& position) {
  return out_(ops::attention(
                  {.query = qkv_(x), .heads = heads_, .position = position, .causal = true}, cache)
                  .values);
}

KVCache SelfAttention::empty_cache(const torch::Tensor& like) const {
  return ops::empty_cache(like, heads_);
}

CrossAttentionImpl::CrossAttentionImpl(const MultiHead& options, const StackOptions& stack)
    : heads_(heads_of(options, stack.d_model)),
      query_(register_module("query",
                             Linear(stack.d_model, std::vector{heads_.query_width()}, stack.bias))),
      key_value_(register_module(
          "key_value", Linear(stack.d_model, std::vector{heads_.key_width(), heads_.value_width()},
                              stack.bias))),
      out_(register_module(
          "out", Linear(heads_.count * heads_.d_v, std::vector{stack.d_model}, stack.bias))) {}

torch::Tensor CrossAttentionImpl::forward(const torch::Tensor& x, const torch::Tensor& memory,
                                          const torch::Tensor& padding_mask,
                                          const Observer* observer) {
  return out_(observed_values(ops::attention({.query = query_(x),
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
  return out_(observed_values(ops::attention({.query = query_(x),
                                              .heads = heads_,
                                              .padding_mask = padding_mask,
                                              .wants_probabilities = is_watched(observer)},
                                             memory),
                              observer));
}

}  // namespace ablate::models
