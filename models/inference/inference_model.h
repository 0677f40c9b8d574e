#pragma once

#include <memory>
#include <span>
#include <vector>

#include "models/inference/hypothesis.h"
#include "models/transformer.h"
#include "models/weight_dtype.h"

namespace ablate::models {

// B batch, S source length, T target length, V vocabulary

/// How an inference model holds the matrices of its linear maps.
enum class WeightLayout {
  packed,  // a copy of each laid out for the CPU's products, in the dtype asked for
  dense,   // as they were trained
  cast,    // all weights in the dtype asked for, and the activations with them
};

/// The layout for weights of `dtype` on a kind of device.
WeightLayout layout_of(torch::DeviceType device, WeightDtype dtype);

/// A trained model for inference alone: a copy of its weights in a dtype, on its device, which
/// neither further training of the original nor its own use changes; copies share it. No method
/// records gradients. All of them may be called by several threads at once.
class InferenceModel {
 public:
  explicit InferenceModel(const Transformer& trained, WeightDtype dtype = WeightDtype::fp32);

  /// See TransformerImpl::forward. // [B, S], [B, T] -> [B, T, V] or [B, S, V] or [B, 1, V]
  torch::Tensor forward(const torch::Tensor& source, const torch::Tensor& target) const {
    return without_gradients()->forward(source, target);
  }
  /// See TransformerImpl::score_targets. // [B, S], [B, T], [B, T]
  ops::TargetScores score_targets(const torch::Tensor& source, const torch::Tensor& target_in,
                                  const torch::Tensor& target_out) const {
    return without_gradients()->score_targets(source, target_in, target_out);
  }
  /// The cache of the source, or of the beginning of a decoder-only model's sequence, which must
  /// have no padding, with that of `ahead` further heads. // [B, S]
  DecoderCache prefill(const torch::Tensor& source, int64_t ahead = 0) const {
    return without_gradients()->prefill(source, {.ahead = ahead});
  }
  /// Logits behind one more token of every row. // [B] -> [B, V]
  torch::Tensor step(const torch::Tensor& last, DecoderCache& cache) const {
    return without_gradients()->step(last, cache);
  }
  /// The outputs behind each of these tokens, and those of `ahead` further heads. See
  /// TransformerImpl::extend. // [B, T]
  ModelOutput extend(const torch::Tensor& ids, DecoderCache& cache, int64_t ahead) const {
    return without_gradients()->extend(ids, cache, {.ahead = ahead});
  }
  /// Logits of outputs. // [.., D] -> [.., V]
  torch::Tensor project(const torch::Tensor& hidden) const {
    return without_gradients()->project(hidden);
  }

  Family family() const { return network_->family(); }
  /// Whether the output is the label of a whole sequence.
  bool labels() const { return network_->labels(); }
  /// The options that the model was made from.
  const TransformerOptions& options() const { return network_->options(); }
  /// Of the trained model.
  int64_t parameters() const { return parameters_; }
  torch::Device device() const { return network_->output_weight().device(); }

 private:
  /// The network; while it lives, no gradient is recorded.
  struct Ungraded {
    torch::NoGradGuard no_grad;
    TransformerImpl* network;

    TransformerImpl* operator->() const { return network; }
  };
  Ungraded without_gradients() const { return {.no_grad = {}, .network = network_.get()}; }

  int64_t parameters_;
  std::shared_ptr<TransformerImpl> network_;
};

/// Casts the floating weights of a model or of a part of it, except those of routers, whose
/// rounding would change which experts are chosen.
void cast_weights(torch::nn::Module& module, torch::ScalarType dtype);

// R rows, S source length, V vocabulary

/// Guesses of the next tokens, which one pass reads and verifies together (Stern et al. 2018,
/// Blockwise Parallel Decoding).
struct Drafting {
  int64_t tokens = 0;  // guesses, each by a further head of the first model; 0: no draft
  int64_t reads = 0;   // the most tokens that any row still reads
};

/// One model or several that write the same outputs step by step, with a cache each. Several vote
/// by the mean of their probabilities. A draft changes logits only by rounding: a guess that is
/// right in all rows saves a pass, and a wrong one is forgotten with the guesses behind it.
class Ensemble {
 public:
  /// Reads the source and the start token; a decoder-only model reads the start token and then the
  /// source, in which no row may be padded. REQUIRES: models of one family, which can forget
  /// (can_forget()) if there is a draft. // source [R, S]
  Ensemble(std::span<const InferenceModel> models, const torch::Tensor& source,
           const SpecialTokens& tokens, const Drafting& drafting = {});

  /// Logits of every row's next token; of several models the log of the mean probability, which is
  /// its own log-softmax. // [R, V]
  torch::Tensor step();
  /// Row i becomes a continuation of row parents[i] by tokens[i]. // [R']
  void advance(const NextRows& next);
  int64_t rows() const { return last_.size(0); }
  /// Whether the last pass answers the next step, too.
  bool is_reached() const { return reached_; }

 private:
  /// Reads the last token and the guesses.
  void pass();
  /// The further heads that run of this model.
  int64_t heads_of(size_t model) const { return model == 0 ? drafting_.tokens : 0; }
  /// The tokens of a pass that steps have not reached.
  int64_t unread() const { return logits_.defined() ? logits_.size(1) - 1 - at_ : 0; }
  /// Guesses of the tokens behind the next one, at the place of the last step. // [R, guesses]
  torch::Tensor guesses() const;

  std::span<const InferenceModel> models_;
  std::vector<DecoderCache> caches_;
  torch::Tensor last_;  // the token that the next step reads // [R]
  Drafting drafting_;
  torch::Tensor guesses_;             // that follow `last_` in the next pass // [R, 0 or more]
  torch::Tensor logits_;              // of the last pass // [R, 1 + guesses, V]
  std::vector<torch::Tensor> ahead_;  // of its further heads // [R, 1 + guesses, D] each
  int64_t at_ = 0;                    // the place in that pass of the last step
  bool reached_ = false;              // whether that pass answers the next step
};

}  // namespace ablate::models
