#pragma once

#include <optional>
#include <span>
#include <vector>

#include "experiments/analysis/statistics/estimates.h"

namespace ablate::statistics {

// Tests and intervals of several samples of paired differences that share their seeds. REQUIRES in
// this file: samples of one size, finite values.

enum class Side {
  both,     // of the hypothesis that the differences are symmetric about 0
  greater,  // that they are symmetric about a centre <= 0
};

/// The measure by which samples are compared.
enum class Joint {
  max_t,  // |sum| / sqrt(sum of squares), without | | for Side::greater
  min_p,  // the share of patterns with a sum at least as large: the p of the sample alone
};

/// The p of each sample, adjusted for all of them: the signs of a seed are flipped in all samples
/// together, and hypotheses are stepped down from the largest statistic or the smallest own p
/// (Westfall and Young 1993; Winkler et al. 2014). An adjusted p of at most a level keeps the
/// chance of any false claim among all samples at that level. The smallest one of n seeds is 2 /
/// 2^n, 1 / 2^n for Side::greater, for any number of samples; but by min_p a sample that differs
/// alone among m has up to m times as much. Exact, with all patterns, up to kMostExactFlips seeds;
/// drawn with a fixed seed beyond. That of zeros is 1.
std::vector<double> joint_sign_flip_p(std::span<const std::vector<double>> samples, Side side,
                                      Joint joint = Joint::max_t);

/// Intervals of the centres that invert the test: all theta for which a sample minus theta is not
/// rejected at `level`, beside the samples that the step-down had not rejected before it; equal
/// ones are rejected at once.
/// An interval contains 0 exactly if the adjusted p of the sample is above that level. Absent if it
/// is unbounded, as it always is with fewer than six seeds; then the p is above the level.
std::vector<std::optional<Interval>> joint_sign_flip_intervals(
    std::span<const std::vector<double>> samples, double level = 1 - kConfidence,
    Joint joint = Joint::max_t);

/// The same for the ratios of the samples' sums to those of their baselines: all rho for which
/// sample - rho * baseline is not rejected, which is Fieller's idea (1954) with this test. Arm and
/// baseline have the ratio 1 + rho. Absent, besides, if a value of the baseline is not positive.
/// REQUIRES: a baseline of the same size for each sample.
std::vector<std::optional<Interval>> joint_ratio_intervals(
    std::span<const std::vector<double>> samples, std::span<const std::vector<double>> baselines,
    double level = 1 - kConfidence, Joint joint = Joint::max_t);

/// The interval of one sample: contains 0 exactly if sign_flip_p() is above `level`.
std::optional<Interval> sign_flip_interval(std::span<const double> values,
                                           double level = 1 - kConfidence);

}  // namespace ablate::statistics
