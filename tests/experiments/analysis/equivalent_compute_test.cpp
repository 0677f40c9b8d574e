#include "experiments/analysis/equivalent_compute.h"

#include <gtest/gtest.h>

#include <cmath>

#include "experiments/analysis/contrast.h"
#include "experiments/analysis/cost.h"

namespace ablate::analysis {
namespace {

/// Samples of sizes, each with a value for every seed.
std::vector<Sample> samples(const std::vector<std::vector<double>>& sizes) {
  std::vector<Sample> made;
  for (const auto& values : sizes) made.push_back(sample_of(values));
  return made;
}

std::vector<Trained> trained(const std::vector<Sample>& flops, const std::vector<Sample>& values) {
  std::vector<Trained> all;
  for (size_t i = 0; i < flops.size(); ++i) all.push_back({&flops[i], &values[i]});
  return all;
}

/// A baseline of two seeds whose loss is 8 / sqrt(FLOPs) and 16 / sqrt(FLOPs).
const auto kFlops = samples({{1, 1}, {4, 4}, {16, 16}});
const auto kLosses = samples({{8, 16}, {4, 8}, {2, 4}});

TEST(EquivalentCompute, IsWhatTheArmSpendsToWhatTheBaselineWouldSpendForItsValue) {
  // Seed 1 reaches 4 with 2 FLOPs, for which the baseline needs 4; seed 2 reaches 8 with 8.
  const auto flops = samples({{2, 8}, {4, 4}, {16, 16}}),
             losses = samples({{4, 8}, {4, 8}, {2, 4}});
  const auto ratios = compute_ratios(trained(flops, losses), trained(kFlops, kLosses));
  ASSERT_EQ(ratios.size(), 3U);
  EXPECT_NEAR(ratios[0].values.at(0), 0.5, 1e-12);
  EXPECT_NEAR(ratios[0].values.at(1), 2, 1e-12);
  EXPECT_NEAR(ratios[0].mean, 1, 1e-12) << "geometric";
  EXPECT_NEAR(ratios[2].mean, 1, 1e-12);
  EXPECT_EQ(ratio_figure(ratios[1]), "1.00");
}

TEST(EquivalentCompute, IsNotReadMoreThanTenTimesBeyondTheBaselinesRuns) {
  // 8 / sqrt(160) is the loss at ten times the most FLOPs.
  const auto reached = [](double loss) {
    const auto losses = samples({{loss, 4}, {4, 8}, {2, 4}});
    return compute_ratios(trained(kFlops, losses), trained(kFlops, kLosses))[0];
  };
  EXPECT_NEAR(reached(8 / std::sqrt(159)).values[0], 1 / 159.0, 1e-9);
  EXPECT_TRUE(std::isnan(reached(8 / std::sqrt(161)).values[0]));
  EXPECT_TRUE(std::isnan(reached(8 / std::sqrt(161)).mean)) << "no mean of the other seeds alone";
  EXPECT_EQ(ratio_figure(reached(8 / std::sqrt(161))), "-");
}

TEST(EquivalentCompute, NeedsALawThatFalls) {
  const auto rising = samples({{2, 4}, {4, 8}, {8, 16}});
  EXPECT_TRUE(compute_ratios(trained(kFlops, kLosses), trained(kFlops, rising)).empty());
  const std::vector two(kFlops.begin(), kFlops.begin() + 2);
  EXPECT_TRUE(compute_ratios(trained(two, kLosses), trained(two, kLosses)).empty())
      << "of two sizes";
}

TEST(TimeRatio, IsTheGeometricMeanOfTheSeeds) {
  const auto sizes = samples({{30, 80}, {10, 40}});
  const auto ratio = time_ratio(sizes[0], sizes[1]);
  EXPECT_NEAR(ratio.values.at(0), 3, 1e-12);
  EXPECT_NEAR(ratio.mean, std::sqrt(6), 1e-12);
  EXPECT_EQ(ratio.resource, config::Resource::seconds);
}

TEST(TimeRatio, IsUnknownIfARunWasNotMeasured) {
  const auto sizes = samples({{30, 0}, {10, 40}});
  EXPECT_EQ(ratio_figure(time_ratio(sizes[0], sizes[1])), "-");
}

}  // namespace
}  // namespace ablate::analysis
