#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "training/update_observer.h"

namespace ablate::training {
namespace {

constexpr double kNear = 1e-6;

/// All of one sequence's queries count. // [1, T]
torch::Tensor all(int64_t queries) { return torch::ones({1, queries}, torch::kBool); }

TEST(Observables, EvenAttentionHasTheEntropyOfItsNumberOfKeysAndOneKeyHasNone) {
  // Two heads of two queries over three keys: [1, 2, 2, 3].
  const auto weights =
      torch::tensor({1. / 3, 1. / 3, 1. / 3, .5, .5, 0., 1., 0., 0., 0., 0., 1.}, torch::kFloat)
          .view({1, 2, 2, 3});
  const auto entropy = attention_entropy(weights, all(2));
  ASSERT_EQ(entropy.size(), 2U);
  EXPECT_NEAR(entropy[0], (std::log(3.0) + std::log(2.0)) / 2, kNear);
  EXPECT_EQ(entropy[1], 0);
  EXPECT_FALSE(std::signbit(entropy[1]));
}

TEST(Observables, QueriesThatDoNotCountAreLeftOut) {
  const auto weights = torch::tensor({.5, .5, 1., 0.}, torch::kFloat).view({1, 1, 2, 2});
  const auto first = torch::tensor({true, false}).view({1, 2});
  EXPECT_NEAR(attention_entropy(weights, first)[0], std::log(2.0), kNear);
  EXPECT_NEAR(attention_sink(weights, first)[0], 0.5, kNear);
  EXPECT_TRUE(std::isnan(attention_entropy(weights, torch::zeros_like(first))[0]));
}

TEST(Observables, EntropyIsThatOfSharesWhateverWeightsSumTo) {
  // As of softmax_one or sigmoid; a query of relu2 may attend to nothing.
  const auto weights = torch::tensor({.1, .1, 0., 0.}, torch::kFloat).view({1, 1, 2, 2});
  EXPECT_NEAR(attention_entropy(weights, all(2))[0], std::log(2.0), kNear);
}

TEST(Observables, TheSinkIsTheMeanWeightOfTheFirstKey) {
  const auto weights =
      torch::tensor({.9, .1, .7, .3, .2, .8, 0., 1.}, torch::kFloat).view({1, 2, 2, 2});
  const auto sink = attention_sink(weights, all(2));
  EXPECT_NEAR(sink[0], 0.8, kNear);
  EXPECT_NEAR(sink[1], 0.1, kNear);
}

TEST(Observables, RowsThatAreTheSameHaveNoResidualAndOppositeOnesNothingElse) {
  const auto same = torch::tensor({1., 2., 1., 2.}).view({1, 2, 2});
  const auto opposite = torch::tensor({1., 2., -1., -2.}).view({1, 2, 2});
  const auto unit = torch::eye(2).unsqueeze(0);  // (1, 0) and (0, 1), apart by (1/2, -1/2)
  EXPECT_NEAR(rank_residual(same, all(2)), 0, kNear);
  EXPECT_NEAR(rank_residual(opposite, all(2)), 1, kNear);
  EXPECT_NEAR(rank_residual(unit, all(2)), std::sqrt(0.5), kNear);
  EXPECT_NEAR(rank_residual(torch::cat({same, opposite}), all(2).expand({2, 2})), 0.5, kNear);
}

TEST(Observables, NeitherPaddingNorSequencesOfOnePositionAddToTheResidual) {
  const float noise = std::numeric_limits<float>::quiet_NaN();
  const auto x = torch::tensor({1.F, 0.F, 0.F, 1.F, noise, 9.F, 5.F, 5.F, noise, noise, 7.F, 7.F})
                     .view({2, 3, 2});
  const auto mask = torch::tensor({true, true, false, true, false, false}).view({2, 3});
  EXPECT_NEAR(rank_residual(x, mask), std::sqrt(0.5), kNear);
}

TEST(Observables, NeuronsAreActiveWhereTheyAreNotZero) {
  EXPECT_NEAR(active_neurons(torch::tensor({0., 1., -2., 0., 0., 0.}).view({3, 2})), 2. / 6, kNear);
}

TEST(Observables, TwoGradientSizesGiveBackSignalAndNoise) {
  // |G|^2 = 4 and trace(S) = 12: over 2 tokens the expected square is 4 + 12 / 2, over 6 4 + 12
  // / 6.
  const auto noise = gradient_noise({.square = 10, .tokens = 2}, {.square = 6, .tokens = 6});
  EXPECT_NEAR(noise.square, 4, kNear);
  EXPECT_NEAR(noise.variance, 12, kNear);
  EXPECT_NEAR(noise.scale(), 3, kNear);
  EXPECT_EQ((GradientNoise{.square = -1, .variance = 12}).scale(),
            std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace ablate::training
