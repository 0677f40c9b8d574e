#include "models/ops/top_k.h"

#include <gtest/gtest.h>

#include "tests/models/models.h"

namespace ablate::models::ops {
namespace {

/// Scores of which two are equal.
torch::Tensor scores_of(int64_t rows, int64_t width) {
  torch::manual_seed(2);
  auto scores = torch::randn({rows, width}) * 5;
  scores.select(1, width / 2).copy_(scores.select(1, width - 1));
  return scores;
}

TEST(LogSoftmaxTopK, AreTheLargestLogProbabilities) {
  for (const bool gradients : {false, true}) {  // for which another back end serves
    const torch::AutoGradMode mode(gradients);
    for (const int64_t width : {4, 16, 17, 100, 1000}) {
      const auto scores = scores_of(3, width);
      const auto expected = scores.to(torch::kDouble).log_softmax(-1);
      const auto [values, indices] = log_softmax_top_k(scores, 4);
      EXPECT_LT(largest_difference(values, std::get<0>(expected.topk(4))), 1e-5);
      EXPECT_LT(largest_difference(values, expected.gather(1, indices)), 1e-5);
    }
  }
}

TEST(SoftmaxTopK, AreTheProbabilitiesAndTheirLargest) {
  for (const bool gradients : {false, true}) {
    const torch::AutoGradMode mode(gradients);
    for (const int64_t k : {1, 2, 9}) {
      const auto scores = scores_of(5, 12);
      const auto [probabilities, top] = softmax_top_k(scores, k);
      EXPECT_LT(largest_difference(probabilities, scores.softmax(-1)), 1e-6);
      EXPECT_LT(largest_difference(top.values, std::get<0>(probabilities.topk(k))), 1e-6);
      EXPECT_TRUE(torch::equal(top.values, probabilities.gather(1, top.indices)));
    }
  }
}

TEST(SoftmaxTopK, TakesTheFirstOfEqualScores) {
  const torch::NoGradGuard no_grad;
  const auto top = softmax_top_k(torch::tensor({{1.0F, 3.0F, 2.0F, 3.0F}}), 2).top;
  EXPECT_TRUE(torch::equal(top.indices, torch::tensor({{1, 3}})));
}

}  // namespace
}  // namespace ablate::models::ops
