#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace ablate::statistics {

/// A closed interval.
struct Interval {
  double low = 0, high = 0;
  bool operator==(const Interval&) const = default;
};

/// The range of an unbounded value.
inline constexpr Interval kUnbounded{-std::numeric_limits<double>::infinity(),
                                     std::numeric_limits<double>::infinity()};

/// The range of the difference of two values in `range`.
constexpr Interval differences_in(const Interval& range) {
  return {range.low - range.high, range.high - range.low};
}

/// The part of an interval that is in `range`. That of the possible values of a mean does not
/// change the coverage of its interval.
Interval clipped(const Interval& interval, const Interval& range);

/// Whether every value is a number and not infinite.
bool all_finite(std::span<const double> values);

/// left - right; 0 of numbers that only rounding tells apart, such as sums of the same numbers in
/// another order.
double difference_of(double left, double right);

/// NaN of no values.
double mean(std::span<const double> values);

/// The binary exponent of the largest distance of a value from `centre`, 0 if all distances are 0
/// or one is not finite. No square of a distance divided by that power of two overflows, that of
/// the largest does not vanish, and all keep their bits.
int largest_exponent(std::span<const double> values, double centre);

/// The standard deviation of a sample, divided by n - 1. 0 of values between which difference_of()
/// finds no difference, NaN of fewer than two.
double deviation(std::span<const double> values);

/// The confidence level of all intervals.
inline constexpr double kConfidence = 0.95;

/// Student's t-interval of the mean, n - 1 degrees of freedom. Absent if there are fewer than two
/// values or one is not finite; sign_flip_interval() of equal values, which have no t.
std::optional<Interval> t_interval(std::span<const double> values, double confidence = kConfidence);

/// A standard normal variable is between -this and this with probability kConfidence.
inline constexpr double kNormalQuantile = 1.959963984540054;

/// Wilson's 95 % score interval of a share (Wilson 1927). REQUIRES: 0 <= hits <= count, count > 0.
Interval wilson_interval(int64_t hits, int64_t count);

/// Clopper and Pearson's exact 95 % interval of a share (1934). REQUIRES: as wilson_interval().
Interval exact_interval(int64_t hits, int64_t count);

/// Scores of one arm: [task][run].
using TaskScores = std::vector<std::vector<double>>;

/// The mean of the middle half of all runs of all tasks (Agarwal et al. 2021): a quarter of the
/// scores, rounded down, is cut at each end. NaN of no scores.
double interquartile_mean(const TaskScores& scores);

/// Its 95 % percentile interval from 2,000 bootstrap samples, runs drawn within their task, with a
/// fixed seed. REQUIRES: no empty task.
Interval interquartile_interval(const TaskScores& scores);

/// The probability that a run of `left` is greater than one of `right`: Mann-Whitney's U divided by
/// the number of pairs, with a half for ties (Agarwal et al. 2021). NaN if a side is empty.
double probability_greater(std::span<const double> left, std::span<const double> right);

}  // namespace ablate::statistics
