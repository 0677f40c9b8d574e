#pragma once

#include <span>
#include <vector>

#include "models/inference/hypothesis.h"
#include "models/inference/inference_model.h"

namespace ablate::models {

// R rows, S source length, V vocabulary

/// One model or several that write the same outputs step by step, with a cache each. Several vote
/// by the mean of their probabilities.
class Ensemble {
 public:
  /// Reads the source and the start token; a decoder-only model reads the start token and then the
  /// source, in which no row may be padded. REQUIRES: models of one family; attention over a source
  /// where `coverage_penalty` is above 0. // source [R, S]
  Ensemble(std::span<const InferenceModel> models, const torch::Tensor& source,
           const SpecialTokens& tokens, double coverage_penalty);

  /// Logits of every row's next token; of several models the log of the mean probability, which is
  /// its own log-softmax. // [R, V]
  torch::Tensor step();
  /// After a step, each row's penalty for source tokens that its output has hardly read: the
  /// coverage penalty times the sum over them of log min(1, attention so far), of the last layer's
  /// mean head (Wu et al. 2016, section 7). Empty where the penalty is 0. // [R]
  std::vector<double> coverage() const;
  /// Row i becomes a continuation of row parents[i] by tokens[i]. // [R']
  void advance(const NextRows& next);

 private:
  void reorder(const torch::Tensor& rows);                 // on the CPU // [R']
  void add_attention(const torch::Tensor& probabilities);  // [R, H, 1, S]

  std::span<const InferenceModel> models_;
  double coverage_penalty_;
  std::vector<DecoderCache> caches_;
  torch::Tensor last_;           // the token that the next step reads // [R]
  torch::Tensor read_, padded_;  // attention so far; where the source is padding // [R, S]
};

}  // namespace ablate::models
