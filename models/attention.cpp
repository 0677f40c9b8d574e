#include "models/attention.h"

#include "models/dropout.h"
#include "models/packed_attention.h"

namespace ablate::models {
namespace {

torch::Tensor split_heads(const torch::Tensor& x, int64_t heads) {  // [B, T, HK] -> [B, H, T, K]
  return x.unflatten(-1, {heads, -1}).transpose(1, 2);
}

torch::Tensor join_heads(const torch::Tensor& x) {  // [B, H, T, K] -> [B, T, HK]
  return x.transpose(1, 2).flatten(2);
}

torch::Tensor attend(const torch::Tensor& query, const KeyValue& memory, const torch::Tensor& real,
                     bool causal) {
  std::optional<torch::Tensor> mask;
  if (real.defined()) mask = real.unsqueeze(1).unsqueeze(1);  // [B, 1, 1, S]
  if (causal && mask) {
    const auto positions = torch::ones_like(real.select(0, 0), torch::kLong).cumsum(0);
    mask = mask->logical_and(positions.unsqueeze(0).le(positions.unsqueeze(1)));
  }
  return join_heads(at::scaled_dot_product_attention(query, memory.key, memory.value, mask, 0.0,
                                                     causal && !mask));
}

bool runs_packed(const torch::Tensor& x, int64_t keys) {
  return runs_as_kernel(x) && std::max(x.size(1), keys) <= kLongestPacked;
}

}  // namespace

Heads::Heads(const AttentionOptions& options, int64_t d_model)
    : count(options.heads),
      d_k(options.d_k.value_or(d_model / options.heads)),
      d_v(options.d_v.value_or(d_model / options.heads)) {}

SelfAttentionImpl::SelfAttentionImpl(const AttentionOptions& options, int64_t d_model)
    : heads_(options, d_model),
      qkv_(register_module(
          "qkv",
          Linear(d_model, std::vector<int64_t>{heads_.count * heads_.d_k, heads_.count * heads_.d_k,
                                               heads_.count * heads_.d_v}))),
      out_(register_module("out", Linear(heads_.count * heads_.d_v, std::vector{d_model}))) {}

torch::Tensor SelfAttentionImpl::forward(const torch::Tensor& x, const torch::Tensor& real,
                                         bool causal) {
  const auto qkv = qkv_(x);  // [B, T, H(2K+W)]
  if (runs_packed(x, x.size(1))) return out_(packed_self_attention(qkv, real, heads_, causal));
  const int64_t keys = heads_.count * heads_.d_k, values = heads_.count * heads_.d_v;
  const auto parts = qkv.split_with_sizes({keys, keys, values}, -1);
  const KeyValue memory{split_heads(parts[1], heads_.count), split_heads(parts[2], heads_.count)};
  return out_(attend(split_heads(parts[0], heads_.count), memory, real, causal));
}

torch::Tensor SelfAttentionImpl::step(const torch::Tensor& x, KeyValue& past) {
  const int64_t keys = heads_.count * heads_.d_k, values = heads_.count * heads_.d_v;
  const auto parts = qkv_(x).split_with_sizes({keys, keys, values}, -1);
  past.key = torch::cat({past.key, split_heads(parts[1], heads_.count)}, 2);
  past.value = torch::cat({past.value, split_heads(parts[2], heads_.count)}, 2);
  return out_(attend(split_heads(parts[0], heads_.count), past, {}, false));
}

KeyValue SelfAttentionImpl::nothing(const torch::Tensor& like) const {
  const auto options = like.options();
  const int64_t batch = like.size(0);
  return {torch::empty({batch, heads_.count, 0, heads_.d_k}, options),
          torch::empty({batch, heads_.count, 0, heads_.d_v}, options)};
}

CrossAttentionImpl::CrossAttentionImpl(const AttentionOptions& options, int64_t d_model)
    : heads_(options, d_model),
      query_(register_module("query", Linear(d_model, std::vector{heads_.count * heads_.d_k}))),
      key_value_(register_module(
          "key_value",
          Linear(d_model, std::vector{heads_.count * heads_.d_k, heads_.count * heads_.d_v}))),
      out_(register_module("out", Linear(heads_.count * heads_.d_v, std::vector{d_model}))) {}

torch::Tensor CrossAttentionImpl::forward(const torch::Tensor& x, const torch::Tensor& memory,
                                          const torch::Tensor& real) {
  if (runs_packed(x, memory.size(1)))
    return out_(packed_cross_attention(query_(x), key_value_(memory), real, heads_));
  return step(x, project(memory), real);
}

KeyValue CrossAttentionImpl::project(const torch::Tensor& memory) {
  const auto parts = key_value_(memory).split_with_sizes(
      {heads_.count * heads_.d_k, heads_.count * heads_.d_v}, -1);
  return {split_heads(parts[0], heads_.count), split_heads(parts[1], heads_.count)};
}

torch::Tensor CrossAttentionImpl::step(const torch::Tensor& x, const KeyValue& memory,
                                       const torch::Tensor& real) {
  return out_(attend(split_heads(query_(x), heads_.count), memory, real, false));
}

}  // namespace ablate::models
