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
  // Within a tenth of the range, and of the median where the range is unbounded.
  EXPECT_EQ(collapsed_seeds(Values{1, 1, 1, 1, 0.91}, true, kShares), Places{});
  EXPECT_EQ(collapsed_seeds(Values{1, 1, 1, 1, 0.89}, true, kShares), Places{4});
  EXPECT_EQ(collapsed_seeds(Values{2, 2, 2, 2, 2.19}, false, kLosses), Places{});
  EXPECT_EQ(collapsed_seeds(Values{2, 2, 2, 2, 2.21}, false, kLosses), Places{4});
  // Within eight ranges of the good runs: 0.08 x 8 = 0.64.
  EXPECT_EQ(collapsed_seeds(Values{0.98, 0.94, 0.9, 0.27}, true, kShares), Places{});
  EXPECT_EQ(collapsed_seeds(Values{0.98, 0.94, 0.9, 0.25}, true, kShares), Places{3});
}

TEST(Collapse, TheLastGapDecides) {
  EXPECT_EQ(collapsed_seeds(Values{1, 1, 1, 0.89, 0, 0}, true, kShares), (Places{4, 5}));
  EXPECT_EQ(collapsed_seeds(Values{1, 1, 1, 0.89, 0.1, 0}, true, kShares), (Places{3, 4, 5}));
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
