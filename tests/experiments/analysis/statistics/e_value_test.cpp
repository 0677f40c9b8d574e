#include "experiments/analysis/statistics/e_value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ablate::statistics {
namespace {

/// The e-value of one difference of its own size.
double grown(double rate, double size) { return 2 / (1 + std::exp(-2 * rate * size)); }

TEST(EValue, IsTheMeanOverRatesOfTheProductsOfBetsOnTheSign) {
  double once = 0, twice = 0;
  for (const double rate : {0.3, 0.6, 1.0, 2.0, 8.0})
    for (const double sign : {1.0, -1.0}) {
      once += grown(sign * rate, 1) / 10;
      twice += grown(sign * rate, 1) * grown(sign * rate, 1) / 10;
    }
  EXPECT_NEAR(once, 1, 1e-12) << "two signs are as likely";
  EXPECT_NEAR(e_value_p(std::vector{0.3, 0.3}), 1 / twice, 1e-12);
  EXPECT_NEAR(e_value_p(std::vector{-7.0, -7.0}), 1 / twice, 1e-12) << "of any size and sign";
}

/// The mean of the e-value over the patterns of signs is 1, whatever the sizes: so says the
/// martingale that the bound rests on. Looked at after each difference, the share of patterns whose
/// p is ever at most a level is at most the level.
TEST(EValue, ReachesALevelInAShareOfTheSignPatternsThatIsNotGreater) {
  const std::vector<double> sizes{0.1, 3, 0.2, 1, 1, 5, 0.7, 0.7, 2, 0.01};
  for (const double level : {0.3, 0.1, 0.05}) {
    int reached = 0;
    for (unsigned pattern = 0; pattern < 1024; ++pattern) {
      std::vector<double> differences = sizes;
      for (size_t i = 0; i < sizes.size(); ++i)
        if ((pattern >> i & 1U) != 0) differences[i] = -sizes[i];
      reached += e_value_p(differences) <= level;
    }
    EXPECT_LE(reached, level * 1024);
    EXPECT_GT(reached, 0) << level;
  }
}

TEST(EValue, NeverTakesBackWhatItHasShown) {
  std::vector<double> differences{0.9, 1, 1.1, 1, 0.9, 1.1, 1};
  const double shown = e_value_p(differences);
  EXPECT_LT(shown, 0.05);
  for (int i = 0; i < 5; ++i) {
    differences.push_back(-1);
    EXPECT_LE(e_value_p(differences), shown);
  }
}

TEST(EValue, OfOneSideIsOnlyOfGains) {
  const std::vector<double> gains{0.9, 1, 1.1, 1, 0.9, 1.1, 1};
  std::vector<double> losses;
  for (const double gain : gains) losses.push_back(-gain);
  EXPECT_LT(e_value_greater_p(gains), e_value_p(gains));
  EXPECT_EQ(e_value_greater_p(losses), 1);
  EXPECT_EQ(e_value_p(std::vector<double>(9, 0)), 1) << "no difference at all";
}

TEST(EValue, AnIntervalHoldsTheCentresThatAreNotRejectedAndMovesWithTheValues) {
  const std::vector<double> values{0.9, 1.3, 1.1, 0.7, 0.9, 1.2, 1, 0.8, 1.1, 1};
  const auto interval = e_value_interval_at(values, 0.05);
  ASSERT_TRUE(interval);
  const auto p_of = [&](double centre) {
    auto moved = values;
    for (double& value : moved) value -= centre;
    return e_value_p(moved);
  };
  EXPECT_LE(p_of(interval->low - 1e-6), 0.05);
  EXPECT_GT(p_of(interval->low + 1e-6), 0.05);
  EXPECT_LE(p_of(interval->high + 1e-6), 0.05);
  EXPECT_GT(p_of(interval->high - 1e-6), 0.05);
  EXPECT_GT(interval->low, 0);

  auto moved = values;
  for (double& value : moved) value -= 1;
  const auto around = e_value_interval_at(moved, 0.05);
  EXPECT_NEAR(around->low, interval->low - 1, 1e-9);
  EXPECT_NEAR(around->high, interval->high - 1, 1e-9);
  EXPECT_LT(around->low, 0);
  EXPECT_GT(around->high, 0);
  EXPECT_FALSE(e_value_interval_at(std::vector{1.0, 2.0, 1.5}, 0.05)) << "so few reject nothing";
}

/// Such as of perplexities after training has diverged.
TEST(EValue, NeitherLargeNorSmallDifferencesAreLost) {
  const std::vector<double> values{0.9, 1.3, 1.1, 0.7, 0.9, 1.2, 1, 0.8};
  for (const int exponent : {600, -600}) {
    auto scaled = values;
    for (double& value : scaled) value = std::ldexp(value, exponent);
    EXPECT_EQ(e_value_p(scaled), e_value_p(values));
    EXPECT_EQ(deviation(scaled), std::ldexp(deviation(values), exponent));
  }
}

TEST(EValue, TheSmallestPIsOfDifferencesEachMuchLargerThanAllBefore) {
  std::vector<double> differences;
  for (int64_t count = 1; count <= 12; ++count) {
    differences.push_back(std::pow(1e6, count));
    EXPECT_NEAR(e_value_greater_p(differences), smallest_e_value_greater_p(count),
                1e-6 * smallest_e_value_greater_p(count));
    EXPECT_NEAR(e_value_p(differences), smallest_e_value_p(count),
                1e-6 * smallest_e_value_p(count));
  }
  EXPECT_GT(smallest_e_value_p(5), 0.05);
  EXPECT_LE(smallest_e_value_p(6), 0.05);
}

}  // namespace
}  // namespace ablate::statistics
