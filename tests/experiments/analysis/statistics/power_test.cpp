#include "experiments/analysis/statistics/power.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "experiments/analysis/statistics/estimates.h"
#include "experiments/analysis/statistics/significance.h"

namespace ablate::statistics {
namespace {

/// Four standard errors of a simulated power.
double noise(double power) { return 4 * std::sqrt(power * (1 - power) / 2000); }

TEST(Power, OfSixSeedsIsTheProbabilityThatAllDifferencesAgree) {
  for (const double effect : {0.5, 1.0, 1.5, 2.0, 3.0}) {
    const double positive = std::erfc(-effect / std::sqrt(2)) / 2;
    const double expected = std::pow(positive, 6);
    EXPECT_NEAR(power_of({6, 1}, effect), expected, noise(expected)) << effect;
  }
}

TEST(Power, ReachesEightyPerCentWhereTheAuditFoundIt) {
  EXPECT_NEAR(detectable_size({6, 1}).value(), 1.8, 0.1);
  EXPECT_NEAR(detectable_size({10, 1}).value(), 1.0, 0.05);
  for (const Design design : {Design{6, 1}, {8, 4}, {14, 3}})
    EXPECT_NEAR(power_of(design, detectable_size(design).value()), 0.8, 1e-9);
}

TEST(Power, IncreasesWithTheEffectAndTheSeedsAndDecreasesWithTheArms) {
  for (const Design design : {Design{6, 1}, {6, 8}, {9, 3}, {13, 2}}) {
    double before = 0;
    for (double effect = 0; effect < 3; effect += 0.4) {
      const double power = power_of(design, effect);
      EXPECT_GE(power, before);
      before = power;
    }
    EXPECT_EQ(power_of(design, -1), power_of(design, 1));
  }
  for (int64_t seeds = 6; seeds < 13; ++seeds)
    EXPECT_GT(power_of({seeds + 1, 2}, 1), power_of({seeds, 2}, 1) - 0.01) << seeds;
  for (int64_t arms = 1; arms < 8; ++arms)
    EXPECT_LT(power_of({8, arms + 1}, 1.5), power_of({8, arms}, 1.5) + 0.02) << arms;
}

TEST(Power, FewerThanSixSeedsShowNothing) {
  for (int64_t seeds = 0; seeds < 6; ++seeds) {
    EXPECT_EQ(power_of({seeds, 1}, 100), 0);
    EXPECT_FALSE(detectable_size({seeds, 1}));
  }
  EXPECT_TRUE(detectable_size({6, 20}));  // for any number of arms six can
}

using Values = std::vector<double>;

/// The share of simulated studies of an arm with this effect of whose differences `holds` does.
template <class Holds>
double share_of_studies(std::mt19937_64 random, int64_t seeds, double effect, Holds holds) {
  std::normal_distribution<double> noise;
  constexpr int studies = 4000;
  int count = 0;
  for (int study = 0; study < studies; ++study) {
    Values differences;
    for (int64_t seed = 0; seed < seeds; ++seed) differences.push_back(effect + noise(random));
    count += holds(differences) ? 1 : 0;
  }
  return static_cast<double>(count) / studies;
}

/// The share of simulated claims of the first of two arms by `p_of`, doubled by Bonferroni as in
/// the first step of Holm's method.
double claimed_share(int64_t seeds, double effect, double (*p_of)(std::span<const double>)) {
  return share_of_studies(std::mt19937_64(7), seeds, effect, [&](const Values& differences) {
    return 2 * p_of(differences) <= 0.05 && mean(differences) > 0;
  });
}

TEST(Power, OfTestsByThemselvesIsTheShareOfTheirClaims) {
  for (const double effect : {1.0, 1.6}) {
    const double holm = power_of({8, 2, Testing::holm}, effect);
    EXPECT_NEAR(claimed_share(8, effect, sign_flip_p), holm, 2 * noise(holm)) << effect;
    const double t = power_of({5, 2, Testing::t}, effect);
    EXPECT_NEAR(claimed_share(5, effect, t_test_p), t, 2 * noise(t)) << effect;
  }
  EXPECT_FALSE(detectable_size({6, 2, Testing::holm})) << "its smallest p is 0.0625";
  EXPECT_TRUE(detectable_size({2, 1, Testing::t}));
  EXPECT_FALSE(detectable_size({1, 1, Testing::t}));
}

TEST(Power, SeedsForAnEffectAreTheFewest) {
  for (const double effect : {2.0, 1.1}) {
    const int64_t seeds = seeds_for({.comparisons = 3}, effect).value();
    EXPECT_GE(power_of({seeds, 3}, effect), kPlannedPower);
    EXPECT_LT(power_of({seeds - 1, 3}, effect), kPlannedPower);
  }
  EXPECT_EQ(seeds_for({.comparisons = 8}, 1e9), 6);
  EXPECT_FALSE(seeds_for({}, 0.01, 30));
  EXPECT_FALSE(seeds_for({.comparisons = 3}, 1.2, 6));
  EXPECT_FALSE(seeds_for({}, 0, 20));
}

TEST(Power, OfTTestsNeedsFewerSeedsForALargeEffect) {
  EXPECT_EQ(seeds_for({.testing = Testing::t}, 1e9), 2);
  EXPECT_EQ(seeds_for({.comparisons = 2, .testing = Testing::t}, 1e9), 2);
  EXPECT_LT(seeds_for({.comparisons = 2, .testing = Testing::t}, 5).value(),
            seeds_for({.comparisons = 2}, 5).value());
}

TEST(Power, OfEqualityOfFiveSeedsIsTheProbabilityThatAllAreWithinTheMargin) {
  for (const double margin : {1.0, 2.0, 3.0}) {
    const double expected = std::pow(std::erf(margin / std::sqrt(2)), 5);
    EXPECT_NEAR(power_of({.seeds = 5, .aim = Aim::equality}, margin), expected, noise(expected));
  }
  EXPECT_FALSE(detectable_size({.seeds = 4, .aim = Aim::equality})) << "its smallest p is 0.0625";
  EXPECT_FALSE(detectable_size({.seeds = 5, .comparisons = 2, .aim = Aim::equality}));
  EXPECT_TRUE(detectable_size({.seeds = 6, .comparisons = 3, .aim = Aim::equality}));
}

/// The share of simulated studies of an arm with this effect in which `p_of` is at most 0.05.
template <class P>
double shown_share(int64_t seeds, double effect, P p_of) {
  return share_of_studies(std::mt19937_64(11), seeds, effect,
                          [&](const Values& differences) { return p_of(differences) <= 0.05; });
}

Values moved(Values values, double sign, double by) {
  for (double& value : values) value = sign * value + by;
  return values;
}

TEST(Power, OfMarginsIsTheShareOfStudiesInWhichTheirTestsShowThem) {
  const double margin = 1.1;
  const auto t_equality = [&](const Values& values) {
    return std::max(t_greater_p(moved(values, 1, margin)), t_greater_p(moved(values, -1, margin)));
  };
  const auto t_no_loss = [&](const Values& values) {
    return 2 * t_greater_p(moved(values, 1, margin));  // by Holm's method, of two
  };
  const auto equality = [&](const Values& values) { return equivalence_p(values, margin); };
  const auto near = [&](const Design& design, double share) {
    const double power = power_of(design, margin);
    EXPECT_NEAR(power, share, 2 * noise(power)) << static_cast<int>(design.aim);
  };
  near({.seeds = 9, .testing = Testing::t, .aim = Aim::equality}, shown_share(9, 0, t_equality));
  near({.seeds = 8, .comparisons = 2, .testing = Testing::t, .aim = Aim::no_loss},
       shown_share(8, 0, t_no_loss));
  near({.seeds = 8, .aim = Aim::equality}, shown_share(8, 0, equality));
  near({.seeds = 9, .testing = Testing::t, .aim = Aim::equality, .effect = 0.4},
       shown_share(9, 0.4, t_equality));
  near({.seeds = 8, .comparisons = 2, .testing = Testing::t, .aim = Aim::no_loss, .effect = 0.4},
       shown_share(8, -0.4, t_no_loss));
}

}  // namespace
}  // namespace ablate::statistics
