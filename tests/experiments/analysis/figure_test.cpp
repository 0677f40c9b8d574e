#include "experiments/analysis/figure.h"

#include <gtest/gtest.h>

namespace ablate::analysis {
namespace {

TEST(ParametersFigure, SaysHowManyATokenUsesWhereThatIsSome) {
  EXPECT_EQ(parameters_figure({.parameters = 934'000, .active_parameters = 934'000}), "934 k");
  EXPECT_EQ(parameters_figure({.parameters = 934'000, .trained_parameters = 934'000}), "934 k");
  EXPECT_EQ(parameters_figure({.parameters = 934'000, .trained_parameters = 1'024}),
            "934 k, 1.02 k trained");
  EXPECT_EQ(parameters_figure({.parameters = 934'000, .active_parameters = 250'000}),
            "250 k of 934 k");
  EXPECT_EQ(parameters_figure({.parameters = 934'000}), "934 k") << "where nobody has counted";
}

TEST(ParametersFigure, IsADashWhereNoRunHasFinished) { EXPECT_EQ(parameters_figure({}), "-"); }

TEST(PFigure, AboveTheLevelOfClaimsDoesNotLookLikeIt) {
  EXPECT_EQ(p_figure(102 / 2048.0), "0.050");
  EXPECT_EQ(p_figure(103 / 2048.0), "0.0503") << "claims nothing";
  EXPECT_EQ(p_figure(0.05), "0.050");
  EXPECT_EQ(p_figure(0.0506), "0.051");
}

TEST(PercentFigure, HasNoExponent) {
  EXPECT_EQ(percent_figure(-3.21), "-3.2");
  EXPECT_EQ(percent_figure(0.042), "0.042");
  EXPECT_EQ(percent_figure(99.96), "100");
  EXPECT_EQ(percent_figure(1234), "1234");
}

TEST(Interval, WithoutZeroDoesNotLookAsIfItHadIt) {
  const auto text = [](double low, double high) {
    return format_metric(statistics::Interval{low, high}, "exact_match");
  };
  EXPECT_EQ(text(0.00004, 0.025), "[4e-05, 0.025]");
  EXPECT_EQ(text(-0.025, -0.0004), "[-0.025, -0.0004]");
  EXPECT_EQ(text(-0.00004, 0.025), "[0.000, 0.025]");
}

TEST(EstimateFigure, IsNotZeroBesideAnIntervalWithoutIt) {
  const auto text = [](double mean, double low, double high) {
    return estimate_figure(mean, statistics::Interval{low, high}, "exact_match");
  };
  EXPECT_EQ(text(-0.00002, -0.00003, -0.00001), "-2e-05 [-3e-05, -1e-05]");
  EXPECT_EQ(text(0.00002, -0.01, 0.01), "0.000 [-0.010, 0.010]");
}

TEST(MeanFigure, IsNotZeroBesideAnIntervalWithoutIt) {
  Sample sample{.mean = 0.00002, .interval = statistics::Interval{0.00001, 0.00003}};
  EXPECT_EQ(mean_figure(sample, "loss"), "2e-05");
  sample.mean = 0;
  sample.interval = statistics::Interval{0, 0};
  EXPECT_EQ(mean_figure(sample, "loss"), "0.000");
}

TEST(PositiveFigure, DoesNotLookLikeZero) {
  EXPECT_EQ(positive_figure(0.0002, "loss"), "0.0002");
  EXPECT_EQ(positive_figure(0.012, "loss"), "0.012");
}

}  // namespace
}  // namespace ablate::analysis
