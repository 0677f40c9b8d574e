#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "models/inference/search.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {

inline constexpr int64_t kVocabulary = 6;
inline constexpr SpecialTokens kTokens{.pad = 0, .bos = 1, .eos = 2, .start = 1};

/// A model of six tokens whose outputs differ.
inline Transformer small(uint64_t seed, Family family = Family::encoder_decoder) {
  auto options = tiny("d_model: 8, layers: 1, feed_forward.d_hidden: 8");
  options.family = family;
  auto model = make(options, {kVocabulary, kVocabulary, 0}, seed);
  torch::NoGradGuard no_grad;
  model->parameters()[0].mul_(2.0);  // sharper distributions, so that hypotheses differ
  return model;
}

inline torch::Tensor sources() {
  return torch::tensor({{3, 4, 5, 2}, {5, 2, 0, 0}, {4, 4, 2, 0}}, torch::kLong);
}

inline std::vector<Hypothesis> search(const InferenceModel& model, const torch::Tensor& source,
                                      const SearchOptions& options) {
  return search(model, {.source = source, .tokens = kTokens}, options);
}

/// Pearson's statistic of counts against expected shares.
inline double chi_square(const std::map<int64_t, int64_t>& counts, const torch::Tensor& probability,
                         double draws) {
  double sum = 0;
  for (int64_t id = 0; id < probability.size(0); ++id) {
    const double expected = probability[id].item<double>() * draws;
    const double seen = counts.contains(id) ? static_cast<double>(counts.at(id)) : 0.0;
    if (expected > 0)
      sum += std::pow(seen - expected, 2) / expected;
    else
      EXPECT_EQ(seen, 0) << id;
  }
  return sum;
}

}  // namespace ablate::models
