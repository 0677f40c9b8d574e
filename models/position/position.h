#pragma once

#include <memory>
#include <stdexcept>

#include "models/module.h"
#include "models/position/position_options.h"

namespace ablate::models {

// T queries, S keys, D model width, H heads, K head width of queries and keys, R rotated pairs

/// A sequence is longer than the model can represent.
struct LengthError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Angles by which the first 2R dimensions of every query and key are turned (Su et al. 2021);
/// undefined tensors turn nothing.
struct Rotation {
  torch::Tensor cosine, sine;  // [T, R]
  RotaryLayout layout = RotaryLayout::half;
};

/// x turned, computed in float or wider. // [B, H, T, K] -> [B, H, T, K]
torch::Tensor rotate(const torch::Tensor& x, const Rotation& rotation);

/// One attention of one layer, as a scheme sees it whose scores depend on content and positions
/// together.
struct ContentAttention {
  torch::Tensor query, key, value;               // [B, H, T, K], [B, H, S, K], [B, H, S, W]
  torch::Tensor visible;                         // [B or 1, 1, T or 1, S]
  torch::Tensor query_positions, key_positions;  // [T], [S]
  int64_t layer;
  torch::Tensor* probabilities = nullptr;  // receives them unless it is null // [B, H, T, S]
};

class Position;

/// What a self-attention must know of positions.
struct AttentionPosition {
  Rotation rotation;            // of the queries, and of the keys at the same positions
  torch::Tensor bias;           // added to the scores; undefined: none // [H, T, S]
  Position* content = nullptr;  // computes the attention itself; null: nothing does
  torch::Tensor query_positions, key_positions;  // [T], [S]
  int64_t layer = 0;
};

/// What one pass of a stack knows of positions.
struct PositionTerms {
  torch::Tensor embedding;   // added to the input; undefined: none // [T, D]
  bool every_layer = false;  // added before every later layer too
  AttentionPosition attention;
};

/// How a stack knows positions. Every hook is the identity unless a scheme overrides it. Hooks take
/// position tensors, so a cached step is an offset and other positions are only other numbers.
/// Cross-attention gets no position information from any scheme: distances between a source and a
/// target mean nothing until the model learns an alignment.
class Position : public Module {
 public:
  /// Vectors to add to the embeddings at `positions`; undefined where the scheme adds none.
  virtual torch::Tensor embedding(const torch::Tensor& positions);  // [T] -> [T, D]
  /// Whether `embedding` is added before every layer and not only before the first.
  virtual bool every_layer() const;
  virtual Rotation rotation(const torch::Tensor& positions);  // [T]
  /// Numbers to add to the scores, the same for every layer. // [T], [S] -> [H, T, S]
  virtual torch::Tensor bias(const torch::Tensor& query, const torch::Tensor& key);
  /// Whether `attend` computes the attention, for what it adds depends on queries and keys.
  virtual bool attends() const;
  virtual torch::Tensor attend(const ContentAttention& attention);  // [B, H, T, W]
  /// All of it for queries at `query` and keys at `key`. // [T], [S]
  PositionTerms terms(const torch::Tensor& query, const torch::Tensor& key);
  /// Throws LengthError, with both lengths, where a sequence of `length` has no position.
  virtual void check(int64_t length) const;
};

/// What a scheme must know of the stack that it serves.
struct PositionContext {
  int64_t d_model, heads, d_k, d_v, layers;
  bool causal;  // a decoder's stack, whose keys never lie behind the query
};

std::shared_ptr<Position> make_position(const PositionOptions& options,
                                        const PositionContext& context);

/// ALiBi's slopes for any number of heads (Press et al. 2021): 2^(-8h/n) for n heads, n a power of
/// two; otherwise those of the power below and every other one of the power above. // [H]
torch::Tensor alibi_slopes(int64_t heads);

/// T5's bucket of every distance key - query (Raffel et al. 2019, section 2.1).
torch::Tensor t5_buckets(const torch::Tensor& distance, const T5Bias& options, bool causal);

}  // namespace ablate::models
