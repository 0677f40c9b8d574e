#pragma once

#include <memory>
#include <stdexcept>

#include "models/module.h"
#include "models/ops/attention.h"
#include "models/position/position_context.h"
#include "models/position/position_options.h"

namespace ablate::models {

// T queries, S keys, D model width, H heads

/// A sequence is longer than the model can represent.
struct LengthError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a scheme says of the positions of one pass.
struct PositionTerms {
  torch::Tensor embedding;   // added to the input; undefined: none // [T, D]
  bool every_layer = false;  // added before every later layer too
  ops::AttentionPosition attention;
};

/// How a stack knows positions. Every hook is the identity unless a scheme overrides it. Hooks take
/// position tensors, so a cached step is an offset and other positions are only other numbers.
/// Cross-attention gets no position information from any scheme: distances between a source and a
/// target mean nothing until the model learns an alignment.
class Position : public Module, public ops::ContentScheme {
 public:
  /// Vectors to add to the embeddings at `positions`, which end a sequence of `length`; undefined
  /// where the scheme adds none. // [T] -> [T, D]
  virtual torch::Tensor embedding(const torch::Tensor& positions, int64_t length);
  /// Whether `embedding` is added before every layer and not only before the first.
  virtual bool every_layer() const;
  virtual ops::Rotation rotation(const torch::Tensor& positions);  // [T]
  /// Numbers to add to the scores, the same for every layer. // [T], [S] -> [H, T, S]
  virtual torch::Tensor bias(const torch::Tensor& query, const torch::Tensor& key);
  /// Whether `attend` computes the attention, for what it adds depends on queries and keys.
  virtual bool attends() const;
  torch::Tensor attend(const ops::ContentAttention& attention) override;  // [B, H, T, W]
  /// All of it for queries at `query` and keys at `key`, which are a whole sequence. // [T], [S]
  PositionTerms terms(const torch::Tensor& query, const torch::Tensor& key);
  /// Throws LengthError, with both lengths, where a sequence of `length` has no position.
  virtual void check(int64_t length) const;
};

std::shared_ptr<Position> make_position(const PositionOptions& options,
                                        const PositionContext& context);

/// ALiBi's slopes for any number of heads (Press et al. 2021): 2^(-8h/n) for n heads, n a power of
/// two; otherwise those of the power below and every other one of the power above. // [H]
torch::Tensor alibi_slopes(int64_t heads);

/// T5's bucket of every distance key - query (Raffel et al. 2019, section 2.1).
torch::Tensor t5_buckets(const torch::Tensor& distance, const T5Bias& options, bool causal);

}  // namespace ablate::models
