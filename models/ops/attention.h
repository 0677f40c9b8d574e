#pragma once

#include <memory>
#include <optional>

#include "models/kv_cache.h"
#include "models/ops/elementwise.h"
#include "models/ops/positions.h"
#include "models/ops/weighting.h"
#include "models/options/attention_options.h"

namespace ablate::models::ops {

// B batch, T queries, S keys, H heads, G heads of keys and values (G divides H), K head width of
// queries and keys, W head width of values

inline torch::Tensor split_heads(const torch::Tensor& x, int64_t heads) {
  return x.unflatten(-1, {heads, -1}).transpose(1, 2);  // [B, T, HK] -> [B, H, T, K]
}
inline torch::Tensor join_heads(const torch::Tensor& x) {
  return x.transpose(1, 2).flatten(2);  // [B, H, T, K] -> [B, T, HK]
}

/// The factor of queries, for scores with another factor than 1 / sqrt(K).
struct QueryFactor {
  double fixed = 1;
  torch::Tensor by_head = {};  // replaces `fixed` unless undefined // [H]

  torch::Tensor operator()(const torch::Tensor& query) const;  // [.., H, T, K] -> [.., H, T, K]
};

/// One attention of one layer, for schemes whose scores depend on content and positions together.
struct ContentAttention {
  torch::Tensor query, key, value;               // [B, H, T, K], [B, H, S, K], [B, H, S, W]
  torch::Tensor visible;                         // [B or 1, H or 1, T or 1, S]
  torch::Tensor query_positions, key_positions;  // [T], [S]
  int64_t layer;
  torch::Tensor* probabilities = nullptr;  // receives them unless it is null // [B, H, T, S]
  Weighting weighting = {};
  QueryFactor factor = {};  // of all that becomes a score by 1 / sqrt(K)
  DropoutStream dropout = {};
  int64_t seen;  // the most keys that a query can see
};

/// A position scheme that computes the attention itself.
class ContentScheme {
 public:
  virtual torch::Tensor attend(const ContentAttention& attention) = 0;  // [B, H, T, W]

 protected:
  ~ContentScheme() = default;
};

/// The position terms of a self-attention.
struct AttentionPosition {
  Rotation rotation;                 // of the queries, and of the keys at the same positions
  torch::Tensor bias;                // added to the scores; undefined: none // [H, T, S]
  ContentScheme* content = nullptr;  // computes the attention itself; null: the operation does
  torch::Tensor query_positions, key_positions;  // [T], [S]
  /// Between which none attends: of the keys and of the queries; undefined: all are one.
  torch::Tensor documents = {}, query_documents = {};  // [B, S], [B, T]
  int64_t layer = 0;
  std::optional<int64_t> window = {};  // the bias hides keys at this distance and beyond
  /// Where the layers of a pass keep the mask that they share on a GPU; null: nowhere.
  std::shared_ptr<torch::Tensor> kept_mask = nullptr;
};

/// The input of one attention: heads side by side, as projections return them.
struct AttentionInput {
  /// [B, T, HK], or with the keys and values of the same positions behind: [B, T, HK + GK + GW].
  torch::Tensor query;
  torch::Tensor key_value;  // of other positions; undefined: see above // [B, S, GK + GW]
  Heads heads;
  torch::Tensor padding_mask;  // true: a key may be attended to; undefined: all may // [B, S]
  AttentionPosition position = {};
  bool causal = false;  // the queries are the last T positions and do not attend to later ones
  bool wants_probabilities = false;
  Weighting weighting = {};
  QueryFactor factor = {};  // only read by a scheme that computes the attention
  /// Of the attention weights, as dropout() of [B, H, T, S] would draw it.
  DropoutStream dropout = {};
};

struct AttentionOutput {
  torch::Tensor values;         // [B, T, HW]
  torch::Tensor probabilities;  // before dropout; undefined unless they are wanted // [B, H, T, S]
};

/// Scaled dot-product attention of every head (Vaswani et al. 2017, equation 1),
/// softmax(q k^T / sqrt(K) + bias) v, with q and k turned by the rotation; another weighting takes
/// the softmax's place. With dropout the weights are in memory as a whole.
AttentionOutput attention(const AttentionInput& input);

/// The largest score of each head among those of keys that a query sees, without the bias.
/// REQUIRES: no scheme that computes the attention itself. // [H]
torch::Tensor largest_scores(const AttentionInput& input);

/// The same over the positions of `cache`: keys and values that follow the queries in `query` are
/// appended to it first. `padding_mask` has a row for each row of the cache's block.
AttentionOutput attention(const AttentionInput& input, KVCache& cache);

/// Projected keys and values as a cache. // [B, S, GK + GW]
KVCache cache_of(const torch::Tensor& key_value, const Heads& heads);

/// A cache without positions, in the batch, type and device of `like`. // [B, T, D]
KVCache empty_cache(const torch::Tensor& like, const Heads& heads);

}  // namespace ablate::models::ops
