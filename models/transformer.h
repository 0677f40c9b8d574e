#pragma once

#include <optional>

#include "models/libtorch.h"
#include "models/stack.h"
#include "models/transformer_options.h"

namespace ablate::models {

// B batch, S source length, T target length, D model width, V vocabulary

/// What the model must know of the tokenizers.
struct Vocabulary {
  int64_t source,
      target;   // sizes, of a label head the classes; equal where one tokenizer serves both
  int64_t pad;  // id of padding
};

/// A Transformer of any family (Vaswani et al. 2017; decoder only: Radford et al. 2018; encoder
/// only: Devlin et al. 2018). Embeddings are scaled by sqrt(D) unless switched off; the output
/// projection has no bias. Lengths beyond a learned table throw LengthError.
class TransformerImpl : public torch::nn::Module {
 public:
  TransformerImpl(const TransformerOptions& options, const Vocabulary& vocabulary);

  /// Logits of padded ids: of every next target piece, or, encoder only, of every source piece.
  /// Decoder-only models read the target alone; a label head has one position.
  /// // [B, S], [B, T] -> [B, T, V] or [B, S, V] or [B, 1, V]
  torch::Tensor forward(const torch::Tensor& source, const torch::Tensor& target);
  /// The last stack's output before the projection to the vocabulary. Layers append what they did
  /// to `recorded`, the encoder's before the decoder's, unless it is null.
  /// // [B, T, D] or [B, S, D]
  torch::Tensor hidden(const torch::Tensor& source, const torch::Tensor& target, Dropout& dropout,
                       Recorded* recorded = nullptr);

  Memory encode(const torch::Tensor& source);  // [B, S]
  /// The state before the first target piece. A decoder-only model reads `source` as the beginning
  /// of the sequence, in which no row may be padded. // [B, S]
  DecoderCache start(const torch::Tensor& source);
  torch::Tensor step(const torch::Tensor& last, DecoderCache& cache);  // [B] -> logits [B, V]
  /// Reads pieces, several only into an empty cache; the logits after the last. // [B, T] -> [B, V]
  torch::Tensor read(const torch::Tensor& ids, DecoderCache& cache);
  /// Numbers of the positions of a target's pieces. // [B, T] -> [T]
  torch::Tensor target_positions(const torch::Tensor& ids) const;
  /// Throws LengthError where no target, or source, of `length` has positions.
  void check_length(int64_t length) const;

  Family family() const { return family_; }
  /// Whether the head gives the label of a whole sequence.
  bool labels() const { return pool_.has_value(); }
  /// Matrices of the embeddings; one and the same where they are tied. // [V, D]
  const torch::Tensor& source_embedding() const { return source_table_; }
  const torch::Tensor& target_embedding() const { return target_table_; }
  /// Matrix of the projection to the vocabulary. // [V, D]
  const torch::Tensor& output_weight() const { return output_.dense; }
  /// What the model was made from.
  const TransformerOptions& options() const { return options_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// Rounds activations and products to bfloat16 from here on (or no longer); parameters stay as
  /// they are.
  void compute_in_bfloat16(bool on) { bfloat16_ = on; }

 private:
  friend class InferenceModel;
  /// Lays all matrices out for products on the CPU; the weights must not change afterwards.
  void prepack(WeightDtype dtype);
  torch::Tensor table(const std::string& name, int64_t size);
  void make_tables(Tying tying, const Vocabulary& vocabulary);
  torch::Tensor embed(const torch::Tensor& ids, const torch::Tensor& table,
                      const torch::Tensor& position);
  Memory encode(const torch::Tensor& source, Dropout& dropout, Recorded* recorded);
  torch::Tensor decode(const torch::Tensor& target, const Memory* memory, Dropout& dropout,
                       Recorded* recorded);
  torch::Tensor extend(const torch::Tensor& ids, DecoderCache& cache);
  torch::Tensor pooled(const Memory& memory) const;
  torch::ScalarType compute_type() const;
  torch::Tensor project(const torch::Tensor& x) const;  // [..., D] -> [..., V]

  TransformerOptions options_;
  Vocabulary vocabulary_;
  Family family_;
  std::optional<Pool> pool_;  // of a label head
  int64_t d_model_, pad_;
  double embedding_scale_;
  bool bfloat16_ = false;
  torch::Tensor source_table_, target_table_;  // [V, D]
  ops::LinearWeight output_;                   // [V, D]
  Stack encoder_{nullptr}, decoder_{nullptr};
};
TORCH_MODULE(Transformer);

/// Trained numbers of a model, shared matrices counted once.
int64_t parameter_count(const torch::nn::Module& model);

}  // namespace ablate::models
