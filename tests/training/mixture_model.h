#pragma once

#include <vector>

#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tokenizer/special_tokens.h"
#include "training/update.h"

namespace ablate::training {

inline models::Transformer model_with(const models::FeedForwardOptions& feed_forward) {
  auto options = models::tiny();
  options.layer.feed_forward = feed_forward;
  return models::make(options, {12, 12, tokenizer::kPad});
}

inline data::Batch three_pairs() {
  std::vector<data::EncodedExample> pairs = {
      {{5, 6, 7, 2}, {7, 6, 5, 2}}, {{8, 2}, {9, 2}}, {{4, 9, 2}, {9, 4, 4, 10, 2}}};
  const std::vector<int64_t> rows{0, 1, 2};
  return data::collate(pairs, rows);
}

inline UpdateOptions mixture_updates() {
  return {.learning_rate = 1e-3,
          .loss = {.smoothing = 0.1},
          .dropout = 0,
          .dropout_seed = 3,
          .precision = Precision::fp32,
          .mixtures = true};
}

inline models::MixtureOptions mixture_of(models::RouterOptions router, int64_t active,
                                         int64_t experts = 4) {
  return {.experts = experts, .active = active, .d_hidden = 24, .router = router};
}

}  // namespace ablate::training
