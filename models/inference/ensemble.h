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
  /// source, in which no row may be padded. REQUIRES: models of one family. // source [R, S]
  Ensemble(std::span<const InferenceModel> models, const torch::Tensor& source,
           const SpecialTokens& tokens);

  /// Logits of every row's next token; of several models the log of the mean probability, which is
  /// its own log-softmax. // [R, V]
  torch::Tensor step();
  /// Row i becomes a continuation of row parents[i] by tokens[i]. // [R']
  void advance(const NextRows& next);

 private:
  std::span<const InferenceModel> models_;
  std::vector<DecoderCache> caches_;
  torch::Tensor last_;  // the token that the next step reads // [R]
};

}  // namespace ablate::models
