#include "experiments/analysis/statistics/forecast.h"

#include <gtest/gtest.h>

namespace ablate::statistics {
namespace {

TEST(Forecast, IsScoredByTheWidthOfItsIntervalAndByWhatItMissed) {
  const std::array quantiles{-0.05, -0.02, 0.01};
  EXPECT_TRUE(score_of(quantiles, 0.01).inside);
  EXPECT_TRUE(score_of({-0.1, 0.05, 0.1}, 2.1 - 2.0).inside) << "0.1 but for rounding";
  EXPECT_NEAR(score_of(quantiles, -0.03).interval_score, 0.06, 1e-12);
  EXPECT_FALSE(score_of(quantiles, 0.03).inside);
  EXPECT_NEAR(score_of(quantiles, 0.03).interval_score, 0.06 + 10 * 0.02, 1e-12);
  EXPECT_NEAR(score_of(quantiles, -0.06).interval_score, 0.06 + 10 * 0.01, 1e-12);
}

// scipy.stats.norm.cdf(-0.02 / (0.03 / norm.ppf(0.9))) = 0.196451
TEST(Forecast, OfASignIsScoredByItsProbability) {
  const std::array below{-0.05, -0.02, 0.01};
  EXPECT_NEAR(score_of(below, 0.03).brier, (1 - 0.196451) * (1 - 0.196451), 1e-5);
  EXPECT_NEAR(score_of(below, -0.01).brier, 0.196451 * 0.196451, 1e-5);
  EXPECT_NEAR(score_of({-0.01, 0.02, 0.05}, 0.03).brier, 0.196451 * 0.196451, 1e-5) << "mirrored";
  EXPECT_NEAR(score_of({-1, 0, 0.05}, 7).brier, 0.25, 1e-12) << "neither sign is likelier";
  EXPECT_NEAR(score_of({0.02, 0.02, 0.02}, 0.01).brier, 0, 1e-12) << "certain, and right";
  EXPECT_NEAR(score_of({0.02, 0.02, 0.02}, -0.01).brier, 1, 1e-12) << "certain, and wrong";
  EXPECT_NEAR(score_of({0.02, 0.02, 0.02}, 0).brier, 0.25, 1e-12);
}

}  // namespace
}  // namespace ablate::statistics
