#include "experiments/analysis/statistics/joint_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "experiments/analysis/statistics/significance.h"
#include "tests/experiments/analysis/statistics/golden.h"

namespace ablate::statistics {
namespace {

using Values = std::vector<double>;
using Samples = std::vector<Values>;

struct Study {
  Samples samples, baselines;
};

/// Studies of all kinds: arms with effects and without, of different scales, ties, constant samples
/// and zeros.
Study random_study(std::mt19937& random, size_t seeds) {
  const auto below = [&](int bound) {
    return std::uniform_int_distribution<int>(0, bound - 1)(random);
  };
  std::normal_distribution<double> normal;
  Study study;
  Values shared;
  for (size_t i = 0; i < seeds; ++i) shared.push_back(normal(random));
  const bool ties = below(3) == 0;
  for (int arm = 0, arms = 1 + below(5); arm < arms; ++arm) {
    const double effect = below(2) * 3 * normal(random), scale = std::pow(10, 2 * normal(random));
    const double noise = below(12) == 0 ? 0 : 1;
    Values sample, baseline;
    for (const double base : shared) {
      const double value = effect + noise * (normal(random) - base);
      sample.push_back(scale * (ties ? std::round(2 * value) / 10 : value));
      baseline.push_back(scale * (5 + base));
    }
    study.samples.push_back(sample);
    study.baselines.push_back(baseline);
  }
  return study;
}

bool holds_zero(const std::optional<Interval>& interval) {
  return !interval || (interval->low <= 0 && 0 <= interval->high);
}

TEST(JointSignFlip, ByHand) {
  // The observed statistics are 4 / sqrt(6) = 1.63 of the second sample and 6 / sqrt(14) = 1.60 of
  // the first, the largest that either has: both only without a flip and with all of them.
  const Samples samples{{1, 2, 3}, {1, 1, 2}};
  EXPECT_EQ(joint_sign_flip_p(samples, Side::both), (Values{0.25, 0.25}));
  EXPECT_EQ(joint_sign_flip_p(samples, Side::greater), (Values{0.125, 0.125}));
  // With a sign turned in the second sample it has 1.63 under two other patterns, which count
  // against the first one, too. Its own 2 / sqrt(6) is reached by six of the sums of 1, 1 and 2.
  EXPECT_EQ(joint_sign_flip_p(Samples{{1, 2, 3}, {-1, 1, 2}}, Side::both), (Values{0.5, 0.75}));
  EXPECT_EQ(joint_sign_flip_p(Samples{{-1, -1}, {0, 0}}, Side::greater), (Values{1, 1}));
  EXPECT_TRUE(joint_sign_flip_p(Samples{}, Side::both).empty());
}

TEST(JointSignFlip, TheSmallestPIsThatOfOneSampleForAnyNumberOfSamples) {
  const Samples samples(20, Values{3, 4, 5, 6, 7, 8});
  for (const double p : joint_sign_flip_p(samples, Side::both))
    EXPECT_EQ(p, smallest_sign_flip_p(6));
}

TEST(JointSignFlip, OneSampleHasTheSignFlipP) {
  std::mt19937 random{2};
  for (const size_t seeds : {1, 2, 6, 9, 16, 17}) {
    for (int i = 0; i < 10; ++i) {
      const auto sample = random_study(random, seeds).samples.front();
      EXPECT_EQ(joint_sign_flip_p(Samples{sample}, Side::both).front(), sign_flip_p(sample));
    }
  }
}

TEST(JointSignFlip, ManySeedsAreDrawnAndAgreeWithAllPatterns) {
  Samples samples(3);
  for (int i = 0; i < 16; ++i)
    for (int k = 0; k < 3; ++k)
      samples[static_cast<size_t>(k)].push_back(std::sin(7 * i + 2 * k) + 0.2 * (k + 1));
  const auto exact = joint_sign_flip_p(samples, Side::both);
  for (auto& sample : samples) sample.push_back(0);  // changes no statistic
  const auto drawn = joint_sign_flip_p(samples, Side::both);
  for (size_t k = 0; k < 3; ++k)
    EXPECT_NEAR(drawn[k], exact[k], 4 * std::sqrt(exact[k] * (1 - exact[k]) / 100'000));
}

TEST(JointSignFlip, DoesNotDependOnScaleNorOnTheOrderOfSeedsAndSamples) {
  std::mt19937 random{3};
  for (int i = 0; i < 200; ++i) {
    auto samples = random_study(random, 7).samples;
    const auto p = joint_sign_flip_p(samples, Side::both);
    for (auto& sample : samples) {
      for (double& value : sample) value *= 1e-180;
      std::ranges::reverse(sample);
    }
    std::ranges::reverse(samples);
    auto other = joint_sign_flip_p(samples, Side::both);
    std::ranges::reverse(other);
    EXPECT_EQ(other, p);
  }
}

TEST(JointSignFlip, ZerosHaveTheP1AndDoNotChangeOthers) {
  const Samples samples{{1, 2, 3, 4, 5, 6}, {0, 0, 0, 0, 0, 0}};
  EXPECT_EQ(joint_sign_flip_p(samples, Side::both), (Values{0.03125, 1}));
  EXPECT_EQ(joint_sign_flip_p(samples, Side::greater), (Values{0.015625, 1}));
}

TEST(JointSignFlip, EqualsClosedTestingOfTheLargestStatistic) {
  ASSERT_GT(golden()["joint"].size(), 20U);
  for (const auto& example : golden()["joint"]) {
    const auto samples = example["samples"].get<Samples>();
    const auto both = joint_sign_flip_p(samples, Side::both);
    const auto greater = joint_sign_flip_p(samples, Side::greater);
    for (size_t i = 0; i < samples.size(); ++i) {
      EXPECT_NEAR(both[i], example["both"][i].get<double>(), kTolerance) << example;
      EXPECT_NEAR(greater[i], example["greater"][i].get<double>(), kTolerance) << example;
    }
  }
}

TEST(JointIntervals, HoldWhatATestOfEachThetaDoesNotReject) {
  for (const auto& example : golden()["joint"]) {
    const auto samples = example["samples"].get<Samples>();
    const auto baselines = example["baselines"].get<Samples>();
    expect_intervals(joint_sign_flip_intervals(samples), example["intervals"]);
    expect_intervals(joint_ratio_intervals(samples, baselines), example["ratio_intervals"]);
  }
}

TEST(SignFlipInterval, ByHand) {
  // Of 64 patterns those that keep or flip all support any theta. The one that flips 1 alone and
  // its opposite support it from 1 on, which makes four: more than 5 %. Below 1 only two remain.
  const auto interval = sign_flip_interval(Values{1, 2, 3, 4, 5, 6});
  EXPECT_NEAR(interval.value().low, 1, kTolerance);
  EXPECT_NEAR(interval->high, 6, kTolerance);
  EXPECT_FALSE(sign_flip_interval(Values{1, 2, 3, 4, 5}));
  EXPECT_EQ(sign_flip_interval(Values(6, 2.0)), (Interval{2, 2}));
  EXPECT_FALSE(sign_flip_interval(Values{1, 2, 3, 4, 5, 6}, 0.025));
  EXPECT_TRUE(sign_flip_interval(Values{1, 2, 3, 4, 5, 6, 7}, 0.025));
  EXPECT_FALSE(sign_flip_interval(Values{}));
}

TEST(SignFlipInterval, HoldsWhatHasAPAboveTheLevel) {
  std::mt19937 random{4};
  for (int i = 0; i < 300; ++i) {
    const auto sample = random_study(random, 6 + static_cast<size_t>(i % 4)).samples.front();
    const auto interval = sign_flip_interval(sample).value();
    const double width = interval.high - interval.low;
    const auto p_at = [&](double theta) {
      Values moved;
      for (const double value : sample) moved.push_back(value - theta);
      return sign_flip_p(moved);
    };
    for (const double share : {0.001, 0.3, 0.7, 0.999})
      EXPECT_GT(p_at(interval.low + share * width), 0.05);
    if (width == 0) continue;
    EXPECT_LE(p_at(interval.low - 0.001 * width), 0.05);
    EXPECT_LE(p_at(interval.high + 0.001 * width), 0.05);
  }
}

TEST(SignFlipInterval, OfSharesIsWithinTheirRange) {
  std::mt19937 random{5};
  std::uniform_real_distribution<double> share;
  for (int i = 0; i < 300; ++i) {
    Values shares;
    for (int seed = 0; seed < 6 + i % 5; ++seed) shares.push_back(std::pow(share(random), 0.1));
    const auto interval = sign_flip_interval(shares).value();
    EXPECT_GE(interval.low, std::ranges::min(shares) - 1e-15);
    EXPECT_LE(interval.high, std::ranges::max(shares) + 1e-15);
  }
}

/// Checks one study, and whether it tells anything.
bool agrees(const Study& study, bool reduce) {
  const auto p = joint_sign_flip_p(study.samples, Side::both);
  const auto intervals = joint_sign_flip_intervals(study.samples);
  const auto ratios = joint_ratio_intervals(study.samples, study.baselines);
  bool rejects = false;
  for (size_t i = 0; i < p.size(); ++i) {
    rejects = rejects || p[i] <= 0.05;
    EXPECT_EQ(holds_zero(intervals[i]), p[i] > 0.05);
    const auto& baseline = study.baselines[i];
    if (ratios[i]) {
      EXPECT_EQ(holds_zero(ratios[i]), p[i] > 0.05);
    }
    if (std::ranges::min(baseline) <= 0) {
      EXPECT_FALSE(ratios[i]);
    }
    if (!reduce) continue;
    const auto& sample = study.samples[i];
    const auto alone = sign_flip_interval(sample, 0.05 / static_cast<double>(p.size()));
    const double corrected = sign_flip_p(sample) * static_cast<double>(p.size());
    EXPECT_EQ(holds_zero(alone), corrected > 0.05);
  }
  return rejects;
}

TEST(JointIntervals, Hold0ExactlyIfTheSampleIsNotRejected) {
  std::mt19937 random{6};
  int rejected = 0;
  for (int i = 0; i < 4000; ++i)
    rejected += agrees(random_study(random, 1 + static_cast<size_t>(i % 10)), true) ? 1 : 0;
  EXPECT_GT(rejected, 800);
  EXPECT_LT(rejected, 3200);
}

TEST(JointIntervals, Hold0ExactlyIfTheSampleIsNotRejectedByDrawnPatterns) {
  std::mt19937 random{7};
  for (int i = 0; i < 8; ++i) agrees(random_study(random, 17), true);
}

TEST(JointIntervals, OneSampleHasThePlainInterval) {
  std::mt19937 random{8};
  for (int i = 0; i < 50; ++i) {
    const auto sample = random_study(random, 8).samples.front();
    const auto plain = sign_flip_interval(sample);
    EXPECT_EQ(joint_sign_flip_intervals(Samples{sample}).front(), plain);
    // A baseline of ones makes of a ratio a difference.
    EXPECT_EQ(joint_ratio_intervals(Samples{sample}, Samples{Values(8, 1.0)}).front(), plain);
  }
}

TEST(JointIntervals, ARatioDoesNotDependOnNoiseThatArmAndBaselineShare) {
  // Every arm is a fifth above its baseline, whatever the baseline.
  const Samples baselines{{1, 2, 4, 8, 16, 32}}, samples{{0.2, 0.4, 0.8, 1.6, 3.2, 6.4}};
  const auto ratio = joint_ratio_intervals(samples, baselines).front().value();
  EXPECT_NEAR(ratio.low, 0.2, kTolerance);
  EXPECT_NEAR(ratio.high, 0.2, kTolerance);
}

TEST(JointIntervals, ARatioToABaselineThatIsNotPositiveIsAbsent) {
  const Samples sample{{3, 4, 5, 6, 7, 8, 9, 10}};
  EXPECT_TRUE(joint_ratio_intervals(sample, Samples{{8, 9, 8, 9, 8, 9, 8, 1}}).front());
  EXPECT_FALSE(joint_ratio_intervals(sample, Samples{{8, 9, 8, 9, 8, 9, 8, 0}}).front());
  EXPECT_FALSE(joint_ratio_intervals(sample, Samples{{8, 9, 8, 9, 8, 9, 8, -1}}).front());
}

TEST(JointIntervals, ARatioIsUnboundedIfNoneHasAStatisticThatTheRivalSeldomReaches) {
  // Any ratio but 0.25 leaves a multiple of the baseline, whose statistic is 37 / sqrt(1029)
  // = 1.15. The other sample has at least 4 / sqrt(6) = 1.63 under 14 patterns of 64.
  const Values baseline{1, 1, 1, 1, 1, 32}, quarter{0.25, 0.25, 0.25, 0.25, 0.25, 8};
  const Samples samples{quarter, {1, 1, 1, 1, 1, -1}};
  EXPECT_FALSE(joint_ratio_intervals(samples, Samples{baseline, baseline}).front());
}

}  // namespace
}  // namespace ablate::statistics
