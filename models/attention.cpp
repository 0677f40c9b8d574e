#include "models/attention.h"

#include <array>
#include <span>

#include "models/kernel/run.h"
#include "models/kernel/single_attention.h"
#include "models/ops/backend.h"
#include "models/packed_attention.h"

namespace ablate::models {
namespace {

torch::Tensor split_heads(const torch::Tensor& x, int64_t heads) {  // [B, T, HK] -> [B, H, T, K]
  return x.unflatten(-1, {heads, -1}).transpose(1, 2);
}

torch::Tensor join_heads(const torch::Tensor& x) {  // [B, H, T, K] -> [B, T, HK]
  return x.transpose(1, 2).flatten(2);
}

/// Which keys may not be attended to, or what is added to the scores.
struct Scores {
  torch::Tensor real;  // [B, S] or undefined
  torch::Tensor bias;  // [H, T, S] or undefined
  bool causal = false;
};

/// 1, 2, 3, ... for every key, from operations a trace keeps. // [B, H, S, K] -> [S]
torch::Tensor counted(const torch::Tensor& key) {
  return torch::ones_like(key.select(0, 0).select(0, 0).select(-1, 0), torch::kLong).cumsum(0);
}

/// Which keys each query sees. // [B or 1, 1, T or 1, S]
torch::Tensor visible_keys(const torch::Tensor& key, const Scores& scores) {
  const auto keys = counted(key);
  auto visible = torch::ones_like(keys, torch::kBool).unsqueeze(0).unsqueeze(0).unsqueeze(0);
  if (scores.real.defined()) visible = scores.real.unsqueeze(1).unsqueeze(1);
  if (scores.causal) visible = visible.logical_and(keys.unsqueeze(0).le(keys.unsqueeze(1)));
  return visible;
}

kernel::HeadsView view_of(const torch::Tensor& x) {
  return {x.const_data_ptr<float>(), x.stride(0), x.stride(1), x.stride(2)};
}

bool contiguous_heads(const torch::Tensor& x) { return x.stride(3) == 1 || x.size(3) == 1; }

/// Whether the CPU kernel for one query a row, a decoding step, can serve.
bool is_single(const torch::Tensor& query, const KeyValue& memory) {
  return query.size(2) == 1 && kernel::serves_strided(query) && contiguous_heads(query) &&
         contiguous_heads(memory.key) && contiguous_heads(memory.value);
}

/// Keys and values in pairs of tensors, and which row of each pair a query's row reads.
struct Blocks {
  std::span<const torch::Tensor> tensors;  // key [M, G, S', K], value [M, G, S', W], ...
  torch::Tensor rows;                      // undefined: its own // [B, pairs]
};

torch::Tensor attend_single(const torch::Tensor& query, const Blocks& blocks,
                            const Scores& scores) {
  const int64_t rows = query.size(0), heads = query.size(1), width = blocks.tensors[1].size(3);
  std::vector<kernel::KeyValueBlock> views;
  int64_t keys = 0;
  for (size_t i = 0; i < blocks.tensors.size(); i += 2) {
    const auto& key = blocks.tensors[i];
    views.push_back({view_of(key), view_of(blocks.tensors[i + 1]), key.size(2)});
    keys += key.size(2);
  }
  auto output = torch::empty({rows, 1, heads * width}, query.options());
  const auto real = scores.real.defined() ? scores.real.contiguous() : scores.real;
  const auto bias =
      scores.bias.defined() ? scores.bias.to(torch::kFloat).contiguous() : scores.bias;
  const kernel::SingleAttention attention{
      .query = view_of(query),
      .blocks = views,
      .rows = blocks.rows.defined() ? blocks.rows.const_data_ptr<int64_t>() : nullptr,
      .real = real.defined() ? real.const_data_ptr<bool>() : nullptr,
      .bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr,
      .output = output.mutable_data_ptr<float>(),
      .heads = heads,
      .group = heads / blocks.tensors[0].size(1),
      .keys = keys,
      .d_k = query.size(3),
      .d_v = width};
  at::parallel_for(0, rows * heads, kernel::grain(keys * (attention.d_k + width)),
                   [&](int64_t begin, int64_t end) { kernel::attend(attention, begin, end); });
  return output;
}

torch::Tensor attend(const torch::Tensor& query, const KeyValue& memory, const Scores& scores) {
  const bool added = scores.bias.defined();
  std::optional<torch::Tensor> mask;
  if (scores.real.defined() || (scores.causal && added)) mask = visible_keys(memory.key, scores);
  if (added) {
    const auto bias = scores.bias.to(query.scalar_type()).unsqueeze(0);  // [1, H, T, S]
    mask = mask ? bias.masked_fill(mask->logical_not(), -std::numeric_limits<float>::infinity())
                : bias;
  }
  return join_heads(at::scaled_dot_product_attention(query, memory.key, memory.value, mask, 0.0,
                                                     scores.causal && !mask));
}

torch::Tensor attend(const torch::Tensor& query, const KeyValue& memory, const Scores& scores,
                     const AttentionPosition& position, torch::Tensor* probabilities = nullptr) {
  if (position.content == nullptr) return attend(query, memory, scores);
  return join_heads(position.content->attend({.query = query,
                                              .key = memory.key,
                                              .value = memory.value,
                                              .visible = visible_keys(memory.key, scores),
                                              .query_positions = position.query_positions,
                                              .key_positions = position.key_positions,
                                              .layer = position.layer,
                                              .probabilities = probabilities}));
}

/// What this attention gives each key: its output were the values one-hot. // [B, H, T, S]
torch::Tensor probabilities_of(const torch::Tensor& query, const torch::Tensor& key,
                               const Scores& scores) {
  const auto one_hot = torch::eye(key.size(2), key.options());  // [S, S]
  const KeyValue memory{key, one_hot.expand({key.size(0), key.size(1), -1, -1})};
  return split_heads(attend(query, memory, scores), query.size(1));
}

/// Every head's own keys and values, those that a group shares repeated. // [B, H, S, *]
KeyValue for_every_head(const KeyValue& memory, const Heads& heads) {
  if (heads.key_values == heads.count) return memory;
  const int64_t group = heads.count / heads.key_values;
  return {memory.key.repeat_interleave(group, 1), memory.value.repeat_interleave(group, 1)};
}

/// Adds one position of every row, as a pair of tensors of its own: nothing is copied.
void append(Mixer::Past& past, const KeyValue& next) {
  const auto own = torch::arange(next.key.size(0)).unsqueeze(1);  // [B, 1]
  if (!past.rows.defined()) {
    if (past.tensors[0].size(2) == 0) past.tensors.clear();
    past.rows = past.tensors.empty() ? own.slice(1, 0, 0) : own;
  }
  past.tensors.insert(past.tensors.end(), {next.key, next.value});
  past.rows = torch::cat({past.rows, own}, 1);
}

bool is_watched(const Observer* observer) { return observer != nullptr && observer->attention; }

bool runs_packed(const torch::Tensor& x, int64_t keys, const Heads& heads) {
  return heads.key_values == heads.count && ops::trains_on_cpu(x) &&
         std::max(x.size(1), keys) <= kLongestPacked;
}

}  // namespace

Heads::Heads(const MultiHead& options, int64_t d_model)
    : count(options.heads),
      key_values(options.key_value_heads.value_or(options.heads)),
      d_k(options.d_k.value_or(d_model / options.heads)),
      d_v(options.d_v.value_or(d_model / options.heads)) {}

SelfAttention::SelfAttention(const MultiHead& options, const StackOptions& stack)
    : heads_(options, stack.d_model),
      causal_(stack.causal),
      qkv_(register_module("qkv", Linear(stack.d_model,
                                         std::vector{heads_.count * heads_.d_k, heads_.key_width(),
                                                     heads_.value_width()},
                                         stack.bias))),
      out_(register_module(
          "out", Linear(heads_.count * heads_.d_v, std::vector{stack.d_model}, stack.bias))) {}

SelfAttention::Projected SelfAttention::projected(const torch::Tensor& qkv,
                                                  const Rotation& rotation) const {
  const auto parts = qkv.split_with_sizes(
      {heads_.count * heads_.d_k, heads_.key_width(), heads_.value_width()}, -1);
  return {rotate(split_heads(parts[0], heads_.count), rotation),
          {rotate(split_heads(parts[1], heads_.key_values), rotation),
           split_heads(parts[2], heads_.key_values)}};
}

torch::Tensor SelfAttention::forward(const torch::Tensor& x, const torch::Tensor& real,
                                     const AttentionPosition& position, const Observer* observer) {
  const bool watched = is_watched(observer);
  const auto qkv = qkv_(x);  // [B, T, HK + GK + GW]
  if (!watched && position.content == nullptr && runs_packed(x, x.size(1), heads_))
    return out_(packed_self_attention(qkv, {real, position, causal_}, heads_));
  const auto [query, own] = projected(qkv, position.rotation);
  const auto memory = for_every_head(own, heads_);
  const Scores scores{real, position.bias, causal_};
  torch::Tensor probabilities;
  const auto output = attend(query, memory, scores, position, &probabilities);
  if (watched)
    observer->attention(probabilities.defined() ? probabilities
                                                : probabilities_of(query, memory.key, scores));
  return out_(output);
}

torch::Tensor SelfAttention::step(const torch::Tensor& x, Past& past,
                                  const AttentionPosition& position) {
  const auto [query, next] = projected(qkv_(x), position.rotation);
  if (position.content == nullptr && is_single(query, next)) {
    append(past, next);
    return out_(attend_single(query, {past.tensors, past.rows}, {.bias = position.bias}));
  }
  TORCH_CHECK(!past.rows.defined(), "these steps began without gradients; go on without them");
  past = {
      {torch::cat({past.tensors[0], next.key}, 2), torch::cat({past.tensors[1], next.value}, 2)}};
  return out_(attend(query, for_every_head({past.tensors[0], past.tensors[1]}, heads_),
                     {{}, position.bias, x.size(1) > 1}, position));
}

Mixer::Past SelfAttention::nothing(const torch::Tensor& like) const {
  // Views of `like`, for a trace bakes the batch of a tensor made from numbers.
  const auto none = like.narrow(1, 0, 0).narrow(-1, 0, 1).unsqueeze(1);  // [B, 1, 0, 1]
  return {{none.expand({-1, heads_.key_values, -1, heads_.d_k}),
           none.expand({-1, heads_.key_values, -1, heads_.d_v})}};
}

CrossAttentionImpl::CrossAttentionImpl(const MultiHead& options, const StackOptions& stack)
    : heads_(options, stack.d_model),
      query_(register_module(
          "query", Linear(stack.d_model, std::vector{heads_.count * heads_.d_k}, stack.bias))),
      key_value_(register_module(
          "key_value", Linear(stack.d_model, std::vector{heads_.key_width(), heads_.value_width()},
                              stack.bias))),
      out_(register_module(
          "out", Linear(heads_.count * heads_.d_v, std::vector{stack.d_model}, stack.bias))) {}

torch::Tensor CrossAttentionImpl::forward(const torch::Tensor& x, const torch::Tensor& memory,
                                          const torch::Tensor& real, const Observer* observer) {
  if (!is_watched(observer) && runs_packed(x, memory.size(1), heads_))
    return out_(packed_cross_attention(query_(x), key_value_(memory), real, heads_));
  return step(x, project(memory), {real, {}}, observer);
}

KeyValue CrossAttentionImpl::project(const torch::Tensor& memory) {
  const auto parts =
      key_value_(memory).split_with_sizes({heads_.key_width(), heads_.value_width()}, -1);
  return {split_heads(parts[0], heads_.key_values), split_heads(parts[1], heads_.key_values)};
}

torch::Tensor CrossAttentionImpl::step(const torch::Tensor& x, const KeyValue& memory,
                                       const MemoryRows& rows, const Observer* observer) {
  const auto query = split_heads(query_(x), heads_.count);
  const bool watched = is_watched(observer);
  if (!watched && is_single(query, memory)) {
    const auto pair = std::to_array({memory.key, memory.value});
    return out_(attend_single(query, {pair, rows.rows}, {.real = rows.real}));
  }
  const auto own = [&](const torch::Tensor& all) {
    return rows.rows.defined() ? all.index_select(0, rows.rows) : all;
  };
  const auto read = for_every_head({own(memory.key), own(memory.value)}, heads_);
  const Scores scores{.real = own(rows.real)};
  if (watched) observer->attention(probabilities_of(query, read.key, scores));
  return out_(attend(query, read, scores));
}

}  // namespace ablate::models
