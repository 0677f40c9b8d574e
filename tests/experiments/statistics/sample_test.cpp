#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "experiments/statistics/aggregate.h"
#include "experiments/statistics/holm.h"
#include "experiments/statistics/mean.h"
#include "experiments/statistics/sign_flip.h"
#include "experiments/statistics/wilson.h"
#include "tests/experiments/statistics/golden.h"

namespace ablate::statistics {
namespace {

using Values = std::vector<double>;

constexpr double kTolerance = 1e-9;

void expect_interval(const Interval& interval, const nlohmann::json& golden_ends) {
  EXPECT_NEAR(interval.low, golden_ends[0].get<double>(), kTolerance);
  EXPECT_NEAR(interval.high, golden_ends[1].get<double>(), kTolerance);
}

TEST(Statistics, EqualScipyOnEveryGoldenSample) {
  ASSERT_GT(golden()["samples"].size(), 20U);
  for (const auto& example : golden()["samples"]) {
    SCOPED_TRACE(example.dump());
    const auto left = example["left"].get<Values>(), right = example["right"].get<Values>();
    Values differences, both = left;
    for (size_t i = 0; i < left.size(); ++i) differences.push_back(left[i] - right[i]);
    both.insert(both.end(), right.begin(), right.end());
    EXPECT_NEAR(mean(differences), example["mean"].get<double>(), kTolerance);
    EXPECT_NEAR(deviation(differences), example["deviation"].get<double>(), kTolerance);
    expect_interval(t_interval(differences).value(), example["interval"]);
    EXPECT_NEAR(sign_flip_p(differences), example["sign_flip_p"].get<double>(), kTolerance);
    EXPECT_NEAR(probability_greater(left, right), example["probability_greater"].get<double>(),
                kTolerance);
    EXPECT_NEAR(interquartile_mean({both}), example["interquartile_mean"].get<double>(),
                kTolerance);
  }
}

TEST(Statistics, EqualScipysWilsonIntervals) {
  for (const auto& example : golden()["wilson"])
    expect_interval(
        wilson_interval(example["hits"].get<int64_t>(), example["count"].get<int64_t>()),
        example["interval"]);
}

TEST(Holm, EqualsClosedTestingOfBonferroni) {
  for (const auto& example : golden()["holm"]) {
    const auto adjusted = holm(example["p"].get<Values>());
    for (size_t i = 0; i < adjusted.size(); ++i)
      EXPECT_NEAR(adjusted[i], example["adjusted"][i].get<double>(), kTolerance);
  }
}

TEST(Holm, ByHand) {
  // Sorted: 0.01 x 3, 0.02 x 2, and 0.03 x 1, which may not fall below the 0.04 before it.
  EXPECT_EQ(holm(Values{0.03, 0.01, 0.02}), (Values{0.04, 0.03, 0.04}));
  EXPECT_TRUE(holm(Values{}).empty());
}

TEST(Mean, ByHand) {
  // 2.7764 is the 97.5 % quantile of t with four degrees of freedom.
  const Values values{1, 2, 3, 4, 5};
  EXPECT_EQ(mean(values), 3);
  EXPECT_NEAR(deviation(values), std::sqrt(2.5), kTolerance);
  EXPECT_NEAR(t_interval(values)->high, 3 + 2.7764 * std::sqrt(0.5), 1e-4);
}

TEST(Mean, OneValueHasNoInterval) {
  EXPECT_FALSE(t_interval(Values{1}).has_value());
  EXPECT_TRUE(std::isnan(deviation(Values{1})));
  EXPECT_FALSE(t_interval(Values{1, std::numeric_limits<double>::infinity()}).has_value());
}

TEST(SignFlip, ByHand) {
  // 1 + 2 + 3 is as far from 0 as -1 - 2 - 3 and nothing else of 8 patterns.
  EXPECT_EQ(sign_flip_p(Values{1, 2, 3}), 0.25);
  // 2 + 1 - 3 = 0: every pattern is at least as far.
  EXPECT_EQ(sign_flip_p(Values{2, 1, -3}), 1);
  EXPECT_EQ(sign_flip_p(Values{0, 0, 0}), 1);
  EXPECT_EQ(sign_flip_p(Values{}), 1);
}

TEST(SignFlip, RoundingDoesNotTellEqualSumsApart) {
  // Five of the eight patterns of 1, 2 and 3 beside 6 do not fall below it; in doubles one of the
  // sums that are 0.6 is a little smaller than the observed one.
  EXPECT_EQ(sign_flip_p(Values{0.1, 0.2, -0.3, 0.6}), 0.625);
}

TEST(SignFlip, ThreeDifferencesAreNeverSignificantAndSixCanBe) {
  EXPECT_EQ(smallest_sign_flip_p(3), 0.25);
  EXPECT_EQ(smallest_sign_flip_p(6), 0.03125);
  EXPECT_EQ(smallest_sign_flip_p(6), sign_flip_p(Values{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(differences_needed(0.05, 1), 6);
  EXPECT_EQ(differences_needed(0.05, 2), 7);
  EXPECT_EQ(differences_needed(0.05, 8), 9);
}

TEST(SignFlip, DrawnPatternsAgreeWithAllOfThem) {
  Values differences;
  for (int i = 0; i < 20; ++i) differences.push_back(std::sin(i) + 0.3);
  const double exact = sign_flip_p(differences);
  differences.push_back(0);  // changes no sum, and makes them too many to try all
  EXPECT_NEAR(sign_flip_p(differences), exact, 4 * std::sqrt(exact * (1 - exact) / kDrawnFlips));
  EXPECT_EQ(sign_flip_p(differences), sign_flip_p(differences));
}

TEST(InterquartileMean, CutsAQuarterAtEachEndOfAllRuns) {
  EXPECT_EQ(interquartile_mean({{0, 1}, {100, 2}}), 1.5);
  EXPECT_EQ(interquartile_mean({{1, 2, 3}}), 2);
}

TEST(InterquartileMean, ItsIntervalDrawsRunsWithinTheirTask) {
  // Two tasks without any noise: however runs are drawn, the middle half stays.
  const auto still = interquartile_interval({{0, 0, 0}, {1, 1, 1}});
  EXPECT_EQ(still, (Interval{0.5, 0.5}));
  const auto noisy = interquartile_interval({{0.1, 0.4, 0.2}, {0.6, 0.9, 0.7}});
  EXPECT_LT(noisy.low, interquartile_mean({{0.1, 0.4, 0.2}, {0.6, 0.9, 0.7}}));
  EXPECT_GT(noisy.high, noisy.low);
  EXPECT_GE(noisy.low, 0.1);
  EXPECT_LE(noisy.high, 0.9);
}

TEST(ProbabilityGreater, CountsTiesHalf) {
  EXPECT_EQ(probability_greater(Values{1, 2}, Values{0, 2}), 0.625);
  EXPECT_EQ(probability_greater(Values{1, 1}, Values{1}), 0.5);
}

}  // namespace
}  // namespace ablate::statistics
