#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/augmentation.h"
#include "data/batch.h"
#include "models/inference/inference_model.h"
#include "training/ranks/rank_group.h"

namespace ablate::training {

/// Teacher-forced scores over target tokens, the end token included and padding excluded.
struct Likelihood {
  double nll = 0;             // mean -log p(target) per token, in nats
  double token_accuracy = 0;  // share of tokens that are the likeliest one
  int64_t tokens = 0;
  /// The accuracy at each target position, from the first up to the last that ten examples reach.
  std::vector<double> position_accuracy;

  double perplexity() const;
};

struct LikelihoodOptions {
  int64_t tokens_per_batch;                     // padded tokens of a batch, at most
  std::optional<data::Masking> masking = {};    // by place: see data::mask_by_place
  const RankGroup& ranks = RankGroup::alone();  // which share the batches
};

/// The batches in which examples are scored. Masking does not depend on them.
class ScoredBatches {
 public:
  /// REQUIRES: `examples` outlive it.
  ScoredBatches(std::span<const data::EncodedExample> examples, const LikelihoodOptions& options);

  int64_t count() const { return std::ssize(plan_); }
  data::Batch next();

 private:
  std::span<const data::EncodedExample> examples_;
  std::vector<std::vector<int64_t>> plan_;
  std::optional<data::Masking> masking_;
  size_t next_ = 0;
};

/// Scores every example. Throws Diverged if their loss is not finite.
Likelihood likelihood(models::Transformer& model, std::span<const data::EncodedExample> examples,
                      const LikelihoodOptions& options);
Likelihood likelihood(const models::InferenceModel& model,
                      std::span<const data::EncodedExample> examples,
                      const LikelihoodOptions& options);

}  // namespace ablate::training
