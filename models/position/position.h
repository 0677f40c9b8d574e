#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include "models/forward_context.h"
#include "models/module.h"
#include "models/ops/attention.h"
#include "models/options/position_options.h"

namespace ablate::models {

/// Properties of the stack that a scheme serves.
struct PositionContext {
  int64_t d_model, heads, d_k, d_v, layers;
  bool causal;                  // a decoder's stack, in which no key follows the query
  int64_t id_range = 0;         // position ids are any below it; 0: they follow on each other
  int64_t base_width = 0;       // of a parametrization by width; 0: d_model
  double head_narrowing = 1;    // base width over d_model if d_k follows it, otherwise 1
  double embedding_factor = 1;  // of embedding_deviation()

  /// Standard deviation of the initial values of a learned table of embeddings.
  double embedding_deviation() const {
    return embedding_factor /
           std::sqrt(static_cast<double>(base_width == 0 ? d_model : base_width));
  }
};

// T queries, S keys, D model width, H heads

/// A sequence is longer than the model can represent.
struct LengthError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The terms of a scheme for the positions of one pass.
struct PositionTerms {
  torch::Tensor embedding;   // added to the input; undefined without one // [T, D] or [B, T, D]
  bool every_layer = false;  // added before every later layer too
  ops::AttentionPosition attention;
};

/// The base of position schemes. Every hook is the identity unless a scheme overrides it. Hooks
/// take position tensors, so a cached step is only an offset. No scheme acts on cross-attention,
/// since distances between a source and a target have no meaning before the model learns an
/// alignment.
class Position : public Module, public ops::ContentScheme {
 public:
  /// Vectors to add to the embeddings at `positions`, which end a sequence of `length`; undefined
  /// if the scheme adds none. // [T] -> [T, D]
  virtual torch::Tensor embedding(const torch::Tensor& positions, int64_t length);
  /// The vectors of rows whose own lengths decide them; undefined: each row has those of
  /// `embedding`. // [T], [B, T] -> [B, T, D]
  virtual torch::Tensor row_embedding(const torch::Tensor& positions,
                                      const torch::Tensor& padding_mask);
  /// Whether `embedding` is added before every layer and not only before the first.
  virtual bool every_layer() const;
  /// The angles of queries and keys at `positions`, which end a sequence of `length`. // [T]
  virtual ops::Rotation rotation(const torch::Tensor& positions, int64_t length);
  /// Numbers to add to the scores, the same for every layer. // [T], [S] -> [H, T, S]
  virtual torch::Tensor bias(const torch::Tensor& query, const torch::Tensor& key);
  /// Whether `attend` computes the attention, because the scheme's terms depend on queries and
  /// keys.
  virtual bool attends() const;
  torch::Tensor attend(const ops::ContentAttention& attention) override;  // [B, H, T, W]
  /// The terms of queries at `query` and keys at `key`, which are a whole sequence. // [T], [S]
  PositionTerms terms(const torch::Tensor& query, const torch::Tensor& key);
  /// Throws LengthError, with both lengths, if a sequence of `length` exceeds the positions.
  virtual void check(int64_t length) const;
};

std::shared_ptr<Position> make_position(const PositionOptions& options,
                                        const PositionContext& context);

/// Vectors of the numbers `positions`, of any sign, in double. // [N] -> [N, width]
torch::Tensor sinusoidal(const torch::Tensor& positions, const Sinusoidal& options, int64_t width);

/// ALiBi's slopes for any number of heads (Press et al. 2021): 2^(-8h/n) for n heads, n a power of
/// two; otherwise those of the power below and every other one of the power above. // [H]
torch::Tensor alibi_slopes(int64_t heads);

/// T5's bucket of every distance key - query (Raffel et al. 2019, section 2.1).
torch::Tensor t5_buckets(const torch::Tensor& distance, const T5Bias& options, bool causal);

/// The position ids of the tokens of a sequence.
class PositionIds : public Module {
 public:
  explicit PositionIds(const PositionIdsOptions& options);

  /// Ids of the tokens with indices 0, 1, 2, ...; increasing. In training, randomized ids are drawn
  /// from the pass's own stream of random numbers. // [T] -> [T]
  torch::Tensor operator()(const torch::Tensor& indices, const ForwardContext& context) const;
  /// Throws LengthError, with both lengths, if there are fewer than `length` ids.
  void check(int64_t length, const ForwardContext& context) const;

 private:
  int64_t range_ = 0;     // 0: indices are ids
  torch::Tensor chosen_;  // of evaluation // [longest]
};

}  // namespace ablate::models
