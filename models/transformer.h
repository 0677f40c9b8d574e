#pragma once

#include <optional>

#include "models/libtorch.h"
#include "models/ops/linear_cross_entropy.h"
#include "models/options/stack_options.h"
#include "models/options/transformer_options.h"
#include "models/stack/stack.h"

namespace ablate::models {

// B batch, S source length, T target length, D model width, V vocabulary

/// Sizes and ids of the tokenizers.
struct Vocabulary {
  int64_t source,
      target;   // sizes; of a label head the number of classes
  int64_t pad;  // id of padding
  /// The token before a document. If it is given, a pass of a decoder over whole sequences attends
  /// from no document, its divider included, to an earlier one; so does a decoder-only model that
  /// writes.
  std::optional<int64_t> divider = {};
  /// The token behind the first text of a pair; without it, all tokens are of a first text.
  std::optional<int64_t> separator = {};
};

/// The output of a pass before the projection to the vocabulary.
struct ModelOutput {
  torch::Tensor hidden;  // [B, T, D], encoder only: [B, S, D], with a label head [B, 1, D]
  std::vector<torch::Tensor> ahead = {};  // the same of the further heads that ran
  std::vector<Routing> routings;          // of every mixture of experts, the encoder's first
};

/// The part of a head between a stack's output and the projection to the vocabulary:
/// norm(activation(W x + b)) (Devlin et al. 2018, as in its code).
class OutputTransformImpl : public Module {
 public:
  OutputTransformImpl(Activation activation, const StackOptions& stack);
  torch::Tensor forward(const torch::Tensor& x,
                        const ForwardContext& context);  // [..., D] -> [..., D]

 private:
  Activation activation_;
  Linear dense_;
  Norm norm_{nullptr};
};
TORCH_MODULE(OutputTransform);

/// A Transformer of any family (Vaswani et al. 2017; decoder only: Radford et al. 2018; encoder
/// only: Devlin et al. 2018). Embeddings are scaled by sqrt(D) unless switched off; the output
/// projection has a bias only if it is chosen. Lengths beyond a learned table throw LengthError.
class TransformerImpl : public Module {
 public:
  TransformerImpl(const TransformerOptions& options, const Vocabulary& vocabulary);

  /// Logits of padded ids: of every next target token, or, encoder only, of every source token.
  /// Decoder-only models read only the target; a label head has one position. // [B, S],
  /// [B, T] -> [B, T, V] or [B, S, V] or [B, 1, V]
  torch::Tensor forward(const torch::Tensor& source, const torch::Tensor& target);
  /// The input of the projection to the vocabulary: the last stack's output, perhaps transformed,
  /// times the logit scale.
  /// // [B, S], [B, T]
  ModelOutput hidden(const torch::Tensor& source, const torch::Tensor& target,
                     const ForwardContext& context = {});

  /// Scores of given targets without a gradient; padding is ignored. The logits are computed in
  /// parts, to save memory. // [B, S], [B, T], [B, T] -> [B, T]
  ops::TargetScores score_targets(const torch::Tensor& source, const torch::Tensor& target_in,
                                  const torch::Tensor& target_out);

  StackOutput encode(const torch::Tensor& source, const ForwardContext& context = {});  // [B, S]
  /// The cache before the first target token. A decoder-only model reads `source` as the beginning
  /// of the sequence, in which no row may be padded. // [B, S]
  DecoderCache prefill(const torch::Tensor& source, const ForwardContext& context = {});
  /// Logits after one more token of every row. // [B] -> [B, V]
  torch::Tensor step(const torch::Tensor& last, DecoderCache& cache,
                     const ForwardContext& context = {});
  /// The outputs behind each of these tokens. Only an empty cache takes several, unless the model
  /// can forget (can_forget()). // [B, T]
  ModelOutput extend(const torch::Tensor& ids, DecoderCache& cache, ForwardContext context);
  /// Logits of outputs. // [.., D] -> [.., V]
  torch::Tensor project(const torch::Tensor& x) const;
  /// The numbers of the documents that tokens are of. REQUIRES: a divider. // [B, T] -> [B, T]
  torch::Tensor documents_of(const torch::Tensor& ids) const;
  /// Position ids of a target's tokens in evaluation. // [B, T] -> [T]
  torch::Tensor target_position_ids(const torch::Tensor& ids) const;
  /// Throws LengthError if a sequence of `length` exceeds the positions of this side.
  void check_length(Side side, int64_t length) const;

  Family family() const { return options_.family; }
  /// Whether the head predicts the label of a whole sequence.
  bool labels() const { return pool_.has_value(); }
  /// Matrices of the embeddings; the same tensor if they are tied. // [V, D]
  const torch::Tensor& source_embedding() const { return source_table_; }
  const torch::Tensor& target_embedding() const { return target_table_; }
  /// Matrix of the projection to the vocabulary. // [V, D]
  const torch::Tensor& output_weight() const { return output_.weight.dense; }
  /// The projection to the vocabulary.
  const ops::OutputMap& output() const { return output_; }
  /// The options that the model was made from.
  const TransformerOptions& options() const { return options_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  friend class InferenceModel;
  /// Repacks all matrices for products on the CPU; the weights must not change afterwards.
  void prepack(WeightDtype dtype);
  torch::Tensor table(const std::string& name, int64_t size, Role role = Role::embedding);
  void make_tables();
  void make_head();
  torch::Tensor embed(const torch::Tensor& ids, const torch::Tensor& table,
                      const torch::Tensor& position);
  /// The vector of each token's text, one for all tokens if there are no pairs.
  /// // [B, S] -> [B, S, D] or [D]
  torch::Tensor type_vectors(const torch::Tensor& ids) const;
  StackOutput run(Stack& stack, const torch::Tensor& ids, const StackOutput* memory,
                  ForwardContext context);
  torch::Tensor pooled(const StackOutput& encoded) const;
  torch::ScalarType compute_type(const ForwardContext& context) const;
  /// The input of the projection to the vocabulary. // [..., D] -> [..., D]
  torch::Tensor input_of_output(const torch::Tensor& x, const ForwardContext& context);
  ModelOutput outputs_of(StackOutput decoded, ForwardContext context);

  TransformerOptions options_;
  Vocabulary vocabulary_;
  std::optional<Pool> pool_;  // of a label head
  bool can_forget_;
  double embedding_scale_, output_scale_;
  torch::Tensor source_table_, target_table_;  // [V, D]
  torch::Tensor type_table_;                   // undefined: texts have no types // [types, D]
  OutputTransform transform_{nullptr};
  Dropout head_dropout_{nullptr};  // of a label head
  ops::OutputMap output_;          // [V, D]
  Stack encoder_{nullptr}, decoder_{nullptr};
};
TORCH_MODULE(Transformer);

/// The number of a model's parameters; shared matrices count once, and adapters do not count.
int64_t parameter_count(const torch::nn::Module& model);

/// The id of targets that do not count in the loss: padding of tokens; every class of a label head
/// counts.
inline int64_t ignored_target(bool labels, int64_t pad) { return labels ? -1 : pad; }

}  // namespace ablate::models
