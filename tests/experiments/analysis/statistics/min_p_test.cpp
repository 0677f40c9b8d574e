#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <ranges>

#include "experiments/analysis/statistics/joint_test.h"
#include "experiments/analysis/statistics/power.h"
#include "experiments/analysis/statistics/significance.h"
#include "tests/experiments/analysis/statistics/golden.h"

namespace ablate::statistics {
namespace {

using Values = std::vector<double>;
using Samples = std::vector<Values>;

Values min_p(const Samples& samples, Side side = Side::both) {
  return joint_sign_flip_p(samples, side, Joint::min_p);
}

/// Arms that share a baseline, some with effects, an odd seed or ties.
Samples random_arms(std::mt19937& random, size_t seeds, double effect) {
  const auto below = [&](int bound) {
    return std::uniform_int_distribution<int>(0, bound - 1)(random);
  };
  std::normal_distribution<double> normal;
  Values baseline;
  for (size_t i = 0; i < seeds; ++i) baseline.push_back(normal(random));
  const bool ties = below(3) == 0;
  Samples arms(2 + static_cast<size_t>(below(4)));
  for (auto& arm : arms) {
    const double shift = below(2) * effect, odd = below(3) == 0 ? 30 : 1;
    for (const double base : baseline) arm.push_back(shift + normal(random) - base);
    arm.back() *= odd;
    if (ties)
      for (double& value : arm) value = std::round(2 * value) / 2;
  }
  return arms;
}

/// Of five seeds the first arm is better in all of them, the second, too, with an odd one, and the
/// third in three. Of 32 patterns, each arm has its largest |sum|, and so its smallest p, 2 / 32,
/// under two: the first and the second under those that keep or flip all, the third under those
/// that turn its own signs to one.
const Samples kArms{{1, 1, 1, 1, 1}, {1, 1, 1, 1, 20}, {1, 1, 1, -1, -1}};

TEST(MinP, ByHand) {
  // The four patterns have a p of 2 / 32 in any arm. The third arm's own |sum|, 1, is its least.
  EXPECT_EQ(min_p(kArms), (Values{4.0 / 32, 4.0 / 32, 1}));
  // By the sizes of sums the odd seed hides the second arm: its 24 / sqrt(404) = 1.19 is reached by
  // its own two patterns and by twelve in which at most one seed of the third arm is turned, with
  // 3 / sqrt(5) = 1.34 or more.
  EXPECT_EQ(joint_sign_flip_p(kArms, Side::both), (Values{4.0 / 32, 14.0 / 32, 1}));
  // One-sided, half of the patterns count; sixteen make the third sum 1 or more.
  EXPECT_EQ(min_p(kArms, Side::greater), (Values{2.0 / 32, 2.0 / 32, 16.0 / 32}));
  EXPECT_TRUE(min_p({}).empty());
}

TEST(MinP, IntervalsByHand) {
  // At 0.15 five patterns must support a theta, and four of the 32 support any. The first arm less
  // theta is a constant, so all others do at 1 alone. The second arm's patterns that flip the 20
  // support thetas from 1 to 20. The third is not rejected and has no rivals left: those
  // that flip its negative seeds support theta from -1 on, those that flip a positive one up to 1.
  const auto intervals = joint_sign_flip_intervals(kArms, 0.15, Joint::min_p);
  const std::vector<Interval> expected{{1, 1}, {1, 20}, {-1, 1}};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(intervals[i].value().low, expected[i].low, kTolerance);
    EXPECT_NEAR(intervals[i]->high, expected[i].high, kTolerance);
  }
  EXPECT_FALSE(joint_sign_flip_intervals(kArms, 0.1, Joint::min_p).front()) << "four are enough";
}

TEST(MinP, OfOneArmIsItsUncorrectedTest) {
  std::mt19937 random{1};
  for (const size_t seeds : {1, 2, 6, 9, 16, 17}) {
    const auto sample = random_arms(random, seeds, 1).front();
    EXPECT_EQ(min_p({sample}).front(), sign_flip_p(sample));
    EXPECT_EQ(joint_sign_flip_intervals(Samples{sample}, 0.05, Joint::min_p).front(),
              sign_flip_interval(sample));
  }
}

/// The share of the patterns of signs, given to the first `true_nulls` arms, under which any of
/// these is claimed.
double false_claims(const Samples& arms, size_t true_nulls, double level) {
  const size_t seeds = arms.front().size(), patterns = size_t{1} << seeds;
  int claims = 0;
  for (size_t pattern = 0; pattern < patterns; ++pattern) {
    auto flipped = arms;
    for (size_t arm = 0; arm < true_nulls; ++arm)
      for (size_t i = 0; i < seeds; ++i)
        if ((pattern >> i & 1U) != 0) flipped[arm][i] *= -1;
    const auto p = min_p(flipped);
    claims += *std::min_element(p.begin(), p.begin() + static_cast<int>(true_nulls)) <= level;
  }
  return static_cast<double>(claims) / static_cast<double>(patterns);
}

TEST(MinP, ClaimsAnyTrueNullInAtMostTheLevelOfItsPatterns) {
  std::mt19937 random{2};
  double most = 0;
  for (int i = 0; i < 120; ++i) {
    const auto arms = random_arms(random, 6, 3);
    for (const double level : {0.05, 0.1, 0.25})
      for (size_t nulls = 1; nulls <= arms.size(); ++nulls) {
        const double share = false_claims(arms, nulls, level);
        EXPECT_LE(share, level) << nulls << " true nulls of " << arms.size();
        most = std::max(most, share / level);
      }
  }
  EXPECT_GT(most, 0.9) << "the level is used";
}

TEST(MinP, IncreasesWithTheOwnPAndIsBetweenItAndBonferronis) {
  std::mt19937 random{3};
  for (int i = 0; i < 300; ++i) {
    const auto arms = random_arms(random, 7, 3);
    for (const auto side : {Side::both, Side::greater}) {
      const auto p = min_p(arms, side);
      Values own;
      for (const auto& arm : arms) own.push_back(joint_sign_flip_p({&arm, 1}, side).front());
      for (size_t a = 0; a < arms.size(); ++a) {
        EXPECT_GE(p[a], own[a]);
        EXPECT_LE(p[a], holm(own)[a] + 1e-12);
        for (size_t b = 0; b < arms.size(); ++b) EXPECT_TRUE(own[a] > own[b] || p[a] <= p[b]);
      }
    }
  }
}

TEST(MinP, DoesNotDependOnScalesNorOnTheOrderOfArms) {
  std::mt19937 random{4};
  for (int i = 0; i < 200; ++i) {
    auto arms = random_arms(random, 7, 3);
    const auto p = min_p(arms);
    const auto intervals = joint_sign_flip_intervals(arms, 0.05, Joint::min_p);
    for (double& value : arms.front()) value *= 1024;
    std::ranges::reverse(arms);
    auto other = min_p(arms);
    auto others = joint_sign_flip_intervals(arms, 0.05, Joint::min_p);
    std::ranges::reverse(other);
    std::ranges::reverse(others);
    EXPECT_EQ(other, p);
    EXPECT_TRUE(std::ranges::equal(others | std::views::drop(1), intervals | std::views::drop(1)));
  }
}

TEST(MinP, EqualsClosedTestingOfTheSmallestP) {
  int differ = 0;
  for (const auto& example : golden()["joint"]) {
    const auto& expected = example["min_p"];
    const auto samples = example["samples"].get<Samples>();
    const auto both = min_p(samples), greater = min_p(samples, Side::greater);
    for (size_t i = 0; i < samples.size(); ++i) {
      EXPECT_NEAR(both[i], expected["both"][i].get<double>(), kTolerance) << example;
      EXPECT_NEAR(greater[i], expected["greater"][i].get<double>(), kTolerance) << example;
    }
    differ += expected["both"] == example["both"] ? 0 : 1;
  }
  EXPECT_GT(differ, 5) << "from those of the largest statistic";
}

TEST(MinP, IntervalsHoldWhatATestOfEachThetaDoesNotReject) {
  for (const auto& example : golden()["joint"]) {
    const auto samples = example["samples"].get<Samples>();
    const auto baselines = example["baselines"].get<Samples>();
    const auto& expected = example["min_p"];
    expect_intervals(joint_sign_flip_intervals(samples, 0.05, Joint::min_p), expected["intervals"]);
    expect_intervals(joint_ratio_intervals(samples, baselines, 0.05, Joint::min_p),
                     expected["ratio_intervals"]);
  }
}

TEST(MinP, IntervalsHold0ExactlyIfTheArmIsNotRejected) {
  std::mt19937 random{5};
  int rejected = 0, held = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto arms = random_arms(random, 4 + static_cast<size_t>(i % 7), 3);
    const double level = i % 3 == 0 ? 0.02 : 0.05;
    const auto p = min_p(arms);
    const auto intervals = joint_sign_flip_intervals(arms, level, Joint::min_p);
    for (size_t a = 0; a < arms.size(); ++a) {
      const auto& found = intervals[a];
      EXPECT_EQ(!found || (found->low <= 0 && 0 <= found->high), p[a] > level);
      ++(p[a] > level ? held : rejected);
    }
  }
  EXPECT_GT(rejected, 1000);
  EXPECT_GT(held, 1000);
}

TEST(MinP, PowerIsTheShareOfItsClaims) {
  constexpr int studies = 4000;
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  for (const double effect : {1.2, 2.0}) {
    int claims = 0;
    for (int study = 0; study < studies; ++study) {
      Samples arms(3);
      for (int seed = 0; seed < 8; ++seed) {
        const double baseline = normal(random);
        for (auto& arm : arms) arm.push_back((normal(random) - baseline) / std::sqrt(2.0));
        arms.front().back() += effect;
      }
      claims += min_p(arms).front() <= 0.05 ? 1 : 0;
    }
    const double share = static_cast<double>(claims) / studies;
    EXPECT_NEAR(power_of({8, 3, Testing::min_p}, effect), share, 0.04) << effect;
  }
  EXPECT_EQ(power_of({8, 1, Testing::min_p}, 1.2), power_of({8, 1}, 1.2));
  EXPECT_LT(power_of({8, 8, Testing::min_p}, 2), power_of({8, 8}, 2));
  EXPECT_GT(power_of({12, 8, Testing::min_p}, 1.1), power_of({12, 8, Testing::holm}, 1.1) + 0.01)
      << "patterns under which several arms have a small p count once";
}

TEST(MinP, ASingleArmThatDiffersNeedsAsManySeedsAsByHolmsMethod) {
  for (const int64_t arms : {2, 4, 8}) {
    const auto needed = differences_needed(0.05, arms, smallest_sign_flip_p);
    EXPECT_FALSE(detectable_size({needed - 1, arms, Testing::min_p})) << arms;
    EXPECT_TRUE(detectable_size({needed, arms, Testing::min_p})) << arms;
    EXPECT_TRUE(detectable_size({6, arms, Testing::joint})) << arms;
  }
  EXPECT_EQ(power_of({6, 2, Testing::min_p, Aim::equality}, 2),
            power_of({6, 2, Testing::holm, Aim::equality}, 2));
}

}  // namespace
}  // namespace ablate::statistics
