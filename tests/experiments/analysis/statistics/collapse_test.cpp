#include "experiments/analysis/statistics/collapse.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace ablate::statistics {
namespace {

using Values = std::vector<double>;
using Places = std::vector<size_t>;

constexpr Interval kShares{0, 1};
constexpr Interval kLosses{0, std::numeric_limits<double>::infinity()};
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Collapse, ByHand) {
  EXPECT_EQ(collapsed_seeds(Values{1, 1, 1, 0.2, 1, 1}, true, kShares), Places{3});
  EXPECT_EQ(collapsed_seeds(Values{1, 0.1, 0.98, 0.1, 0.97, 0.1, 1, 0.1}, true, kShares),
            (Places{1, 3, 5, 7}));
  EXPECT_EQ(collapsed_seeds(Values{1.1, 5.0, 1.1, 5.7, 1.2, 1.15}, false, kLosses), (Places{1, 3}));
  EXPECT_EQ(collapsed_seeds(Values{}, true, kShares), Places{});
}

TEST(Collapse, IsOfAMinorityAtMostHalf) {
  EXPECT_EQ(collapsed_seeds(Values{1, 0, 0, 0, 0, 0}, true, kShares), Places{});
  EXPECT_EQ(collapsed_seeds(Values{1, 1, 1, 0, 0, 0, 0}, true, kShares), Places{});
  EXPECT_EQ(collapsed_seeds(Values{1, 1, 0}, true, kShares), Places{});  // too few to say
  EXPECT_EQ(collapsed_seeds(Values{1.1, 5.0, 5.7}, false, kLosses), Places{});
}

TEST(Collapse, LuckyRunsAreNoCollapseOfOthers) {
  EXPECT_EQ(collapsed_seeds(Values{0.2, 0.2, 0.2, 0.2, 0.2, 1}, true, kShares), Places{});
}

TEST(Collapse, SmallDifferencesAreNone) {
  // Scores: within a quarter of the median, and within a twentieth of the range.
  EXPECT_EQ(collapsed_seeds(Values{1, 1, 1, 1, 0.76}, true, kShares), Places{});
  EXPECT_EQ(collapsed_seeds(Values{1, 1, 1, 1, 0.74}, true, kShares), Places{4});
  EXPECT_EQ(collapsed_seeds(Values{0.1, 0.1, 0.1, 0.1, 0.06}, true, kShares), Places{});
  EXPECT_EQ(collapsed_seeds(Values{0.1, 0.1, 0.1, 0.1, 0.04}, true, kShares), Places{4});
  // Losses: within a tenth of the median.
  EXPECT_EQ(collapsed_seeds(Values{2, 2, 2, 2, 2.19}, false, kLosses), Places{});
  EXPECT_EQ(collapsed_seeds(Values{2, 2, 2, 2, 2.21}, false, kLosses), Places{4});
  // Within four ranges of the good scores, 0.08 x 4 = 0.32, or eight of the good losses.
  EXPECT_EQ(collapsed_seeds(Values{0.98, 0.94, 0.9, 0.59}, true, kShares), Places{});
  EXPECT_EQ(collapsed_seeds(Values{0.98, 0.94, 0.9, 0.57}, true, kShares), Places{3});
  EXPECT_EQ(collapsed_seeds(Values{2, 2.04, 2.08, 2.71}, false, kLosses), Places{});
  EXPECT_EQ(collapsed_seeds(Values{2, 2.04, 2.08, 2.73}, false, kLosses), Places{3});
  // Seven of eight searches have 21.6 to 22.8 BLEU, and one has 14.5.
  EXPECT_EQ(collapsed_seeds(Values{22.8, 22.1, 21.6, 22.5, 14.5, 22, 21.9, 22.2}, true, {0, 100}),
            Places{4});
}

TEST(Collapse, TheLastGapDecides) {
  EXPECT_EQ(collapsed_seeds(Values{1, 1, 1, 0.85, 0, 0}, true, kShares), (Places{4, 5}));
  EXPECT_EQ(collapsed_seeds(Values{1, 1, 1, 0.7, 0.1, 0}, true, kShares), (Places{3, 4, 5}));
}

TEST(Collapse, ValuesThatAreNotFiniteHaveCollapsedBesideOthers) {
  EXPECT_EQ(collapsed_seeds(Values{2, kNaN, 2.1, 2.2, INFINITY}, false, kLosses), (Places{1, 4}));
  EXPECT_EQ(collapsed_seeds(Values{2, kNaN, 9, 2.01, 2.02}, false, kLosses), (Places{1, 2}));
  EXPECT_EQ(collapsed_seeds(Values{kNaN, kNaN}, false, kLosses), Places{});
}

TEST(Collapse, IsRareAmongNormalRuns) {
  std::mt19937 random{1};
  std::normal_distribution<double> normal;
  constexpr int kSamples = 10'000;
  for (int seeds = 5; seeds <= 12; ++seeds) {
    int flagged = 0;
    for (int i = 0; i < kSamples; ++i) {
      Values values;
      for (int seed = 0; seed < seeds; ++seed) values.push_back(normal(random));
      flagged += collapsed_seeds(values, i % 2 == 0, kUnbounded).empty() ? 0 : 1;
    }
    EXPECT_LE(flagged, kSamples / 100 + 4 * std::sqrt(kSamples / 100)) << seeds;
  }
}

}  // namespace
}  // namespace ablate::statistics
