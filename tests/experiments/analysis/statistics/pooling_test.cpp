#include "experiments/analysis/statistics/pooling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "experiments/analysis/statistics/student.h"

namespace ablate::statistics {
namespace {

using Studies = std::vector<StudyEffect>;

TEST(PooledStudies, ByHand) {
  // The squares about 0.2 are 0.02, and 0.02 / (0.05^2 + tau^2) is 2 where tau^2 is 0.0075.
  const auto pooled = PooledStudies::of(Studies{{0.1, 0.05, {}}, {0.2, 0.05, {}}, {0.3, 0.05, {}}});
  EXPECT_NEAR(pooled->tau() * pooled->tau(), 0.0075, 1e-12);
  const auto effect = pooled->at({});
  EXPECT_NEAR(effect.mean, 0.2, 1e-12);
  const double variance = 0.01 / 3;  // of the mean of three
  EXPECT_NEAR(effect.confidence.high - 0.2, t_quantile(2) * std::sqrt(variance), 1e-9);
  EXPECT_NEAR(effect.prediction.high - 0.2, t_quantile(1) * std::sqrt(variance + 0.0075), 1e-9);
}

TEST(PooledStudies, ThatScatterLessThanTheirErrorsHaveNoTauAndNoNarrowerIntervals) {
  const auto pooled = PooledStudies::of(Studies{{0.19, 0.1, {}}, {0.2, 0.1, {}}, {0.21, 0.1, {}}});
  EXPECT_EQ(pooled->tau(), 0);
  EXPECT_NEAR(pooled->at({}).confidence.high - 0.2, t_quantile(2) * 0.1 / std::sqrt(3), 1e-9);
}

TEST(PooledStudies, FollowALine) {
  Studies studies;
  for (const double x : {1.0, 2.0, 3.0, 4.0, 5.0}) studies.push_back({0.5 - 0.1 * x, 0.01, {x}});
  const auto pooled = PooledStudies::of(studies);
  EXPECT_EQ(pooled->tau(), 0);
  EXPECT_NEAR(pooled->coefficients()[0], 0.5, 1e-9);
  EXPECT_NEAR(pooled->coefficients()[1], -0.1, 1e-9);
  const std::vector<double> six{6};
  EXPECT_NEAR(pooled->at(six).mean, -0.1, 1e-9);
  // The variance of a line at 6: 0.01^2 (1 / 5 + 3^2 / 10).
  EXPECT_NEAR(pooled->at(six).confidence.high + 0.1, t_quantile(3) * 0.01 * std::sqrt(1.1), 1e-9);
}

TEST(PooledStudies, AreTooFewBelowTwoMoreThanCoefficients) {
  EXPECT_FALSE(PooledStudies::of(Studies{{0.1, 0.05, {}}, {0.2, 0.05, {}}}));
  EXPECT_FALSE(PooledStudies::of(Studies{{0.1, 0.05, {1}}, {0.2, 0.05, {2}}, {0.3, 0.05, {3}}}));
  EXPECT_FALSE(PooledStudies::of(Studies{}));
}

TEST(PooledStudies, CannotTellASlopeFromOnePlace) {
  EXPECT_FALSE(PooledStudies::of(
      Studies{{0.1, 0.05, {2}}, {0.2, 0.05, {2}}, {0.3, 0.05, {2}}, {0.3, 0.05, {2}}}));
  EXPECT_FALSE(PooledStudies::of(Studies{{0.1, 0, {}}, {0.2, 0.1, {}}, {0.3, 0.1, {}}}));
}

TEST(PooledStudies, OfALargerScatterWeighAlike) {
  // Without scatter the exact study would decide alone; with much, each counts as much.
  const auto pooled =
      PooledStudies::of(Studies{{0, 0.001, {}}, {10, 1, {}}, {20, 1, {}}, {30, 1, {}}});
  EXPECT_GT(pooled->tau(), 12);
  EXPECT_NEAR(pooled->at({}).mean, 15, 0.1);
}

}  // namespace
}  // namespace ablate::statistics
