#pragma once

#include <optional>
#include <span>
#include <vector>

#include "data/encoded_example.h"
#include "data/masking.h"
#include "models/inference/inference_model.h"
#include "training/ranks/rank_group.h"

namespace ablate::training {

/// Teacher-forced scores over target tokens, the end token included and padding excluded.
struct Likelihood {
  double nll = 0;             // mean -log p(target) per token, in nats
  double token_accuracy = 0;  // share of tokens that are the likeliest one
  int64_t tokens = 0;
  /// The same share at each target position from the first, as far as ten examples reach.
  std::vector<double> position_accuracy;

  double perplexity() const;
};

struct LikelihoodOptions {
  int64_t tokens_per_batch;                     // padded tokens of a batch, at most
  std::optional<data::Masking> masking = {};    // the same tokens every time
  const RankGroup& ranks = RankGroup::alone();  // which share the batches
};

/// Scores every example.
Likelihood likelihood(models::Transformer& model, std::span<const data::EncodedExample> examples,
                      const LikelihoodOptions& options);
Likelihood likelihood(const models::InferenceModel& model,
                      std::span<const data::EncodedExample> examples,
                      const LikelihoodOptions& options);

}  // namespace ablate::training
