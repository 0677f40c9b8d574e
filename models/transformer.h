#pragma once

#include <torch/torch.h>

#include <vector>

#include "models/layer.h"
#include "models/position/position.h"
#include "models/transformer_options.h"

namespace ablate::models {

// B batch, S source length, T target length, D model width, V vocabulary

/// What the model must know of the tokenizers.
struct Vocabulary {
  int64_t source, target;  // sizes; equal where one tokenizer serves both
  int64_t pad;             // id of padding
};

/// Encoder layers over embedded sources; a final norm where norms come first.
class EncoderImpl : public torch::nn::Module {
 public:
  explicit EncoderImpl(const TransformerOptions& options);
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& real, const PositionTerms& position,
                        Dropout& dropout);  // [B, S, D]
  Position& position() { return *position_; }

 private:
  std::shared_ptr<Position> position_;
  std::vector<EncoderLayer> layers_;
  Norm norm_{nullptr};
};
TORCH_MODULE(Encoder);

/// What decoding keeps between steps; every tensor has B rows.
struct DecoderCache {
  std::vector<LayerCache> layers;
  torch::Tensor real;       // [B, S]
  torch::Tensor positions;  // of the pieces decoded so far // [T]
  int64_t extent = 0;       // their number, for length checks

  /// Row i becomes what row rows[i] was, in the self-attention and the memory alike. // rows [B']
  void reorder(const torch::Tensor& rows);
};

class DecoderImpl : public torch::nn::Module {
 public:
  explicit DecoderImpl(const TransformerOptions& options);
  torch::Tensor forward(torch::Tensor x, const Memory& memory, const PositionTerms& position,
                        Dropout& dropout);  // [B, T, D]
  DecoderCache start(const Memory& memory);
  torch::Tensor step(torch::Tensor x, DecoderCache& cache,
                     const PositionTerms& position);  // [B, 1, D]
  Position& position() { return *position_; }

 private:
  std::shared_ptr<Position> position_;
  std::vector<DecoderLayer> layers_;
  Norm norm_{nullptr};
};
TORCH_MODULE(Decoder);

/// The encoder-decoder Transformer (Vaswani et al. 2017). Embeddings are scaled by sqrt(D); the
/// output projection has no bias. Lengths beyond a learned table throw LengthError.
class TransformerImpl : public torch::nn::Module {
 public:
  TransformerImpl(const TransformerOptions& options, const Vocabulary& vocabulary);

  /// Logits of every next piece, for padded ids. // [B, S], [B, T] -> [B, T, V]
  torch::Tensor forward(const torch::Tensor& source, const torch::Tensor& target);
  /// The decoder's output before the projection to the vocabulary. // -> [B, T, D]
  torch::Tensor hidden(const torch::Tensor& source, const torch::Tensor& target, Dropout& dropout);

  Memory encode(const torch::Tensor& source);  // [B, S]
  DecoderCache start(const Memory& memory);
  torch::Tensor step(const torch::Tensor& last, DecoderCache& cache);  // [B] -> logits [B, V]

  /// Matrix of the projection to the vocabulary. // [V, D]
  const torch::Tensor& output_weight() const { return output_; }
  /// Rounds activations and products to bfloat16 from here on (or no longer); parameters stay as
  /// they are.
  void compute_in_bfloat16(bool on) { bfloat16_ = on; }

 private:
  torch::Tensor embed(const torch::Tensor& ids, const torch::Tensor& table,
                      const torch::Tensor& position);
  Memory encode(const torch::Tensor& source, Dropout& dropout);
  torch::ScalarType compute_type() const;

  int64_t d_model_, pad_;
  bool bfloat16_ = false;
  torch::Tensor source_table_, target_table_, output_;  // [V, D]
  Encoder encoder_;
  Decoder decoder_;
};
TORCH_MODULE(Transformer);

/// Trained numbers of a model, shared matrices counted once.
int64_t parameter_count(const torch::nn::Module& model);

}  // namespace ablate::models
