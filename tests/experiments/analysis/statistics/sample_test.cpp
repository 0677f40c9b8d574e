#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "experiments/analysis/statistics/estimates.h"
#include "experiments/analysis/statistics/sign_patterns.h"
#include "experiments/analysis/statistics/significance.h"
#include "experiments/analysis/statistics/student.h"
#include "tests/experiments/analysis/statistics/golden.h"

namespace ablate::statistics {
namespace {

using Values = std::vector<double>;

void expect_interval(const Interval& interval, const nlohmann::json& golden_ends) {
  EXPECT_NEAR(interval.low, golden_ends[0], kTolerance);
  EXPECT_NEAR(interval.high, golden_ends[1], kTolerance);
}

TEST(Statistics, EqualScipyOnEveryGoldenSample) {
  ASSERT_GT(golden()["samples"].size(), 20U);
  for (const auto& example : golden()["samples"]) {
    SCOPED_TRACE(example.dump());
    const auto left = example["left"].get<Values>(), right = example["right"].get<Values>();
    Values differences, both = left;
    for (size_t i = 0; i < left.size(); ++i) differences.push_back(left[i] - right[i]);
    both.insert(both.end(), right.begin(), right.end());
    EXPECT_NEAR(mean(differences), example["mean"], kTolerance);
    EXPECT_NEAR(deviation(differences), example["deviation"], kTolerance);
    expect_interval(t_interval(differences).value(), example["interval"]);
    EXPECT_NEAR(sign_flip_p(differences), example["sign_flip_p"], kTolerance);
    expect_interval(t_interval(differences, 0.99).value(), example["interval_99"]);
    EXPECT_NEAR(t_test_p(differences) / example["t_test_p"].get<double>(), 1, kTolerance);
    EXPECT_NEAR(t_greater_p(differences) / example["t_greater_p"].get<double>(), 1, kTolerance);
    for (const auto& one : example["equivalence"])
      EXPECT_NEAR(equivalence_p(differences, one["margin"]), one["p"], kTolerance);
    EXPECT_NEAR(probability_greater(left, right), example["probability_greater"], kTolerance);
    EXPECT_NEAR(interquartile_mean({both}), example["interquartile_mean"], kTolerance);
  }
}

TEST(Quantiles, EqualScipys) {
  ASSERT_GT(golden()["t_quantiles"].size(), 30U);
  for (const auto& example : golden()["t_quantiles"]) {
    const auto expected = example["quantile"].get<double>();
    EXPECT_NEAR(t_quantile(example["degrees"].get<int64_t>()) / expected, 1, 1e-12) << example;
  }
  EXPECT_DOUBLE_EQ(kNormalQuantile, golden()["normal_quantile"].get<double>());
  EXPECT_DOUBLE_EQ(std::erf(kNormalQuantile / std::numbers::sqrt2), kConfidence);
}

TEST(Statistics, EqualScipysWilsonIntervals) {
  for (const auto& example : golden()["wilson"])
    expect_interval(wilson_interval(example["hits"], example["count"]), example["interval"]);
}

TEST(Statistics, EqualScipysExactIntervalsOfShares) {
  for (const auto& example : golden()["exact"])
    expect_interval(exact_interval(example["hits"], example["count"]), example["interval"]);
}

TEST(Statistics, EqualScipysRatesOfFalseDiscoveries) {
  for (const auto& example : golden()["false_discovery"]) {
    const auto rates = false_discovery_rates(example["p"].get<Values>());
    for (size_t i = 0; i < rates.size(); ++i)
      EXPECT_NEAR(rates[i], example["q"][i].get<double>(), kTolerance);
  }
  EXPECT_TRUE(false_discovery_rates(Values{}).empty());
}

TEST(Equivalence, HasAnIntervalWithinAMarginExactlyIfItsTestRejects) {
  const Values differences{0.1, -0.2, 0.35, 0.05, -0.15, 0.3};
  for (const double level : {0.05, 0.025}) {
    const auto interval = equivalence_interval(differences, level).value();
    const double least = std::max(-interval.low, interval.high);
    for (const double margin : {least - 1e-6, least + 1e-6, 1 - 1e-6})
      EXPECT_EQ(equivalence_p(differences, margin) <= level, margin > least) << margin;
  }
  EXPECT_FALSE(equivalence_interval(std::span(differences).first(4), 0.05).has_value());
  const Values many(20, 0.25);
  EXPECT_EQ(equivalence_interval(many, 0.05), (Interval{0.25, 0.25})) << "drawn patterns";
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

TEST(Mean, AnIntervalIsClippedToWhatValuesCanBe) {
  const Values values{1, 0.98, 1, 0.9};
  const auto whole = t_interval(values).value();
  EXPECT_GT(whole.high, 1);
  EXPECT_EQ(clipped(whole, {0, 1}), (Interval{whole.low, 1}));
  EXPECT_EQ(clipped(*t_interval(Values{-1, 0.9}), differences_in({0, 1})), (Interval{-1, 1}));
}

TEST(Mean, AClippedIntervalHoldsTheMeanOfSharesAsOftenAsTheWholeOne) {
  // Six shares each: normal around the mean, with those above 1 drawn again from below 1.
  std::mt19937 random{1};
  constexpr int kSamples = 4000;
  for (const double middle : {0.5, 0.9, 0.97}) {
    std::normal_distribution<double> draw{middle, 0.02};
    const double excess = (1 - middle) / 0.02;  // of a truncated normal, whose mean follows
    const double mean = middle - 0.02 * std::exp(-excess * excess / 2) /
                                     std::sqrt(2 * std::numbers::pi) /
                                     (0.5 * std::erfc(-excess / std::numbers::sqrt2));
    int clipped = 0, whole = 0;
    for (int i = 0; i < kSamples; ++i) {
      Values shares;
      while (shares.size() < 6)
        if (const double share = draw(random); share <= 1) shares.push_back(share);
      const auto holds = [&](const Interval& interval) {
        return interval.low <= mean && mean <= interval.high ? 1 : 0;
      };
      const auto narrow = statistics::clipped(*t_interval(shares), {0, 1});
      EXPECT_GE(narrow.low, 0);
      EXPECT_LE(narrow.high, 1);
      clipped += holds(narrow);
      whole += holds(t_interval(shares).value());
    }
    EXPECT_EQ(clipped, whole) << middle;
    EXPECT_NEAR(static_cast<double>(clipped) / kSamples, kConfidence,
                4 * std::sqrt(kConfidence * (1 - kConfidence) / kSamples))
        << middle;
  }
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
  EXPECT_EQ(differences_needed(0.05, 1, smallest_sign_flip_p), 6);
  EXPECT_EQ(differences_needed(0.05, 2, smallest_sign_flip_p), 7);
  EXPECT_EQ(differences_needed(0.05, 8, smallest_sign_flip_p), 9);
  EXPECT_EQ(differences_needed(0.05, 1, smallest_equivalence_p), 5);
}

TEST(TTest, ByHand) {
  // t of one degree of freedom is a tangent: mean 2 and deviation sqrt(2) make t = 2.
  const double two_sided = 1 - 2 / std::numbers::pi * std::atan(2);
  EXPECT_NEAR(t_test_p(Values{1, 3}), two_sided, kTolerance);
  EXPECT_NEAR(t_greater_p(Values{1, 3}), two_sided / 2, kTolerance);
  EXPECT_NEAR(t_greater_p(Values{-1, -3}), 1 - two_sided / 2, kTolerance);
}

TEST(TTest, EqualDifferencesAndSingleOnes) {
  EXPECT_EQ(t_test_p(Values{0.1, 0.1, 0.1}), 0.25) << "as by flipping signs";
  EXPECT_EQ(t_test_p(Values{0.4 - 0.3, 0.3 - 0.2, 0.2 - 0.1}), 0.25) << "equal but for rounding";
  EXPECT_EQ(t_test_p(Values{0, 0, 0}), 1);
  EXPECT_EQ(t_greater_p(Values{0.1, 0.1, 0.1}), 0.125);
  EXPECT_EQ(t_greater_p(Values{-0.1, -0.1}), 1);
  EXPECT_FALSE(t_interval(Values{0.1, 0.1, 0.1}));
  EXPECT_EQ(t_interval(Values(6, 0.25)), (Interval{0.25, 0.25}));
  EXPECT_EQ(t_greater_p(Values{0, 0}), 1);
  EXPECT_EQ(t_test_p(Values{5}), 1);
  EXPECT_EQ(t_greater_p(Values{}), 1);
}

TEST(TTest, TailsEqualScipysHoweverSmallTheyAre) {
  ASSERT_GT(golden()["t_tails"].size(), 30U);
  for (const auto& example : golden()["t_tails"]) {
    const auto tail = t_tail(example["t"].get<double>(), example["degrees"].get<int64_t>());
    const auto expected = example["tail"].get<double>();
    EXPECT_NEAR(tail, expected, kTolerance * expected) << example;
  }
}

TEST(Equivalence, ByHand) {
  // From -1.5 the differences are 1.5, 2.5 and 0.5 away, from 1.5 they are 1.5, 0.5 and 2.5: only
  // one sign pattern of eight sums up to as much.
  EXPECT_EQ(equivalence_p(Values{0, 1, -1}, 1.5), 0.125);
  // From 0.5 they are 0.5, -0.5 and 1.5 away, 1.5 in sum, which three of eight sign patterns reach:
  // 0.5 + 0.5 + 1.5, 0.5 - 0.5 + 1.5 and -0.5 + 0.5 + 1.5. From -0.5 it is the same.
  EXPECT_EQ(equivalence_p(Values{0, 1, -1}, 0.5), 0.375);
  EXPECT_EQ(equivalence_p(Values{}, 1), 1);
  EXPECT_EQ(smallest_equivalence_p(5), equivalence_p(Values{0, 0, 0, 0, 0}, 0.01));
}

TEST(Equivalence, ADifferenceOfTheMarginIsNotSmallerThanIt) {
  // In doubles 0.21 - 0.2 is a little less than 0.01.
  EXPECT_EQ(equivalence_p(Values(6, 0.21 - 0.2), 0.01), 1);
}

TEST(SignFlip, DrawnPatternsAgreeWithAllOfThem) {
  Values differences;
  for (int i = 0; i < 16; ++i) differences.push_back(std::sin(i) + 0.3);
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

/// Of five runs there are 3,125 resamples, all equally likely.
TEST(InterquartileMean, ItsIntervalIsThatOfAllResamplesOfOneTask) {
  const Values runs{2, 3, 4, 7, 8};
  Values means;
  for (int code = 0; code < 3125; ++code) {
    Values sample;
    for (int rest = code; sample.size() < runs.size(); rest /= 5)
      sample.push_back(runs[static_cast<size_t>(rest % 5)]);
    means.push_back(interquartile_mean({sample}));
  }
  const auto share_up_to = [&](double limit) {
    return static_cast<double>(std::ranges::count_if(means, [=](double m) { return m <= limit; })) /
           static_cast<double>(means.size());
  };
  const auto interval = interquartile_interval({runs});
  const double noise = 5 * std::sqrt(0.025 * 0.975 / 2000);
  for (const auto& [end, share] :
       {std::pair{interval.low, 0.025}, std::pair{interval.high, 0.975}}) {
    EXPECT_LT(share_up_to(end - 1e-9), share + noise);
    EXPECT_GT(share_up_to(end + 1e-9), share - noise);
  }
  EXPECT_GT(interval.low, 2);
  EXPECT_LT(interval.high, 8);
  EXPECT_EQ(interval, interquartile_interval({runs}));
}

TEST(ProbabilityGreater, CountsTiesHalf) {
  EXPECT_EQ(probability_greater(Values{1, 2}, Values{0, 2}), 0.625);
  EXPECT_EQ(probability_greater(Values{1, 1}, Values{1}), 0.5);
}

}  // namespace
}  // namespace ablate::statistics
