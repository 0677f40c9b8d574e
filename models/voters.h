#pragma once

#include <span>
#include <vector>

#include "models/search_options.h"
#include "models/transformer.h"

namespace ablate::models {

// R rows, S source length, V vocabulary

/// Several models that write the same outputs step by step, with one cache each.
class Voters {
 public:
  /// REQUIRES: one model or more, of one family; attention over a source where
  /// options.coverage_penalty is above 0. // source [R, S]
  Voters(std::span<Transformer> models, const torch::Tensor& source, const SearchOptions& options);

  /// Logits, or the log of the mean probability, which is its own log-softmax. // [R, V]
  torch::Tensor step();
  /// After a step each row's penalty for source pieces that its output has hardly read:
  /// options.coverage_penalty times the sum over them of log min(1, attention so far), of the last
  /// layer's mean head (Wu et al. 2016, section 7). Empty where that is 0. // [R]
  std::vector<double> coverage() const;
  /// Row i becomes what row rows[i] was, before any step.
  void repeat(const std::vector<int64_t>& rows);
  /// Row i goes on from row parents[i] with the piece last[i]. // last [R']
  void go_on(const std::vector<int64_t>& parents, torch::Tensor last);

 private:
  void reorder(const torch::Tensor& rows);
  void add_attention(const torch::Tensor& probabilities);  // [R, H, 1, S]

  std::span<Transformer> models_;
  double coverage_penalty_;
  std::vector<DecoderCache> caches_;
  torch::Tensor last_;           // [R]
  torch::Tensor read_, padded_;  // attention so far, and which source pieces are none // [R, S]
};

}  // namespace ablate::models
