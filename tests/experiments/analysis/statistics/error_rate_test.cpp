#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "experiments/analysis/statistics/significance.h"

namespace ablate::statistics {
namespace {

constexpr int kStudies = 4000;
constexpr double kLevel = 0.05;

/// Synthetic studies: a baseline and arms of `seeds` normal scores each, the arms `effect` standard
/// deviations of a difference above it.
class Laboratory {
 public:
  /// The Holm-corrected p of each arm in one study.
  std::vector<double> study(int seeds, int arms, double effect) {
    std::normal_distribution<double> noise;
    std::vector<double> baseline, p;
    for (int i = 0; i < seeds; ++i) baseline.push_back(noise(random_));
    for (int arm = 0; arm < arms; ++arm) {
      std::vector<double> differences;
      for (const double score : baseline)
        differences.push_back(noise(random_) + effect * std::sqrt(2.0) - score);
      p.push_back(sign_flip_p(differences));
    }
    return holm(p);
  }

  /// The share of studies in which any arm is claimed to differ.
  double claims(int seeds, int arms, double effect) {
    int count = 0;
    for (int i = 0; i < kStudies; ++i)
      count += std::ranges::min(study(seeds, arms, effect)) <= kLevel ? 1 : 0;
    return static_cast<double>(count) / kStudies;
  }

 private:
  std::mt19937 random_{1};
};

/// Four standard errors of a share that is counted over all studies.
double margin(double share) { return 4 * std::sqrt(share * (1 - share) / kStudies); }

TEST(NullStudy, RejectsAtTheRateThatTheNumberOfSeedsAllows) {
  // The largest multiple of 2 / 2^n that is at most 0.05.
  const std::vector<std::pair<int, double>> rates{
      {5, 0}, {6, 2.0 / 64}, {8, 12.0 / 256}, {10, 50.0 / 1024}};
  for (const auto& [seeds, rate] : rates)
    EXPECT_NEAR(Laboratory().claims(seeds, 1, 0), rate, margin(rate)) << seeds;
}

TEST(NullStudy, HolmKeepsTheRateOfAnyFalseClaimOverSeveralArms) {
  for (const int seeds : {8, 10})
    EXPECT_LE(Laboratory().claims(seeds, 4, 0), kLevel + margin(kLevel)) << seeds;
}

TEST(NullStudy, WithoutHolmSeveralArmsWouldClaimTooOften) {
  std::mt19937 random{1};
  std::normal_distribution<double> noise;
  int count = 0;
  for (int i = 0; i < kStudies; ++i) {
    double least = 1;
    for (int arm = 0; arm < 4; ++arm) {
      std::vector<double> differences;
      for (int seed = 0; seed < 8; ++seed) differences.push_back(noise(random));
      least = std::min(least, sign_flip_p(differences));
    }
    count += least <= kLevel ? 1 : 0;
  }
  EXPECT_GT(static_cast<double>(count) / kStudies, 2 * kLevel);
}

TEST(NullStudy, EquivalenceAtTheMarginIsShownAtTheRateThatTheNumberOfSeedsAllows) {
  std::mt19937 random{1};
  for (const auto& [seeds, rate] : std::vector<std::pair<int, double>>{{6, 3.0 / 64}, {4, 0}}) {
    std::normal_distribution<double> difference{1, 0.1};  // the margin is 1
    int count = 0;
    for (int i = 0; i < kStudies; ++i) {
      std::vector<double> differences;
      for (int seed = 0; seed < seeds; ++seed) differences.push_back(difference(random));
      count += equivalence_p(differences, 1) <= kLevel ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(count) / kStudies, rate, margin(rate)) << seeds;
  }
}

TEST(PlantedEffect, IsFoundWithAboutThePowerOfThePairedTTest) {
  // Effects that a paired t-test finds in 80 % of studies, in standard deviations of a difference.
  EXPECT_NEAR(Laboratory().claims(8, 1, 1.2), 0.8, 0.08);
  EXPECT_NEAR(Laboratory().claims(10, 1, 1.0), 0.8, 0.08);
  // Six seeds are significant only where all agree: 0.919 to the power of six at 1.4.
  EXPECT_NEAR(Laboratory().claims(6, 1, 1.4), 0.604, margin(0.604));
}

}  // namespace
}  // namespace ablate::statistics
