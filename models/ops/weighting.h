#pragma once

#include "models/libtorch.h"
#include "models/options/attention_options.h"

namespace ablate::models::ops {

// B batch, T queries, S keys, H heads

/// How scores become attention weights.
struct Weighting {
  ScoreFunction score_function = ScoreFunction::softmax;
  double softcap = 0;   // of scores; 0: none
  torch::Tensor sinks;  // scores of keys without a value; undefined: none // [H]

  /// Whether this is the softmax of the scores as they are, which every back end computes.
  bool is_softmax() const {
    return score_function == ScoreFunction::softmax && softcap == 0 && !sinks.defined();
  }
};

/// Attention weights of `scores`, all zero for a query that sees no key, computed in float or
/// wider. // [B, H, T, S], [B or 1, H or 1, T or 1, S] -> [B, H, T, S]
torch::Tensor attention_weights(const torch::Tensor& scores, const torch::Tensor& visible,
                                const Weighting& weighting);

}  // namespace ablate::models::ops
