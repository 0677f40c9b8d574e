#include "experiments/analysis/statistics/inversion.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace ablate::statistics {
namespace {

/// Infinite if the denominator is not positive.
double ratio(double numerator, double denominator) {
  return denominator > 0 ? numerator / denominator : kUnbounded.high;
}

/// The squared statistic (t B)^2 / (constant + linear t + square t^2) at a distance t from the
/// theta at which the sum is 0.
struct Statistic {
  double slope_sum = 0;  // B
  double constant = 0, linear = 0, square = 0;

  /// The distances at which it is at most `limit`^2, as far as they are connected with 0: the
  /// solution of (B^2 - m square) t^2 - m linear t - m constant <= 0 with m = limit^2.
  Interval within(double limit) const {
    const double m = limit * limit;
    const double a = slope_sum * slope_sum - m * square, b = m * linear, c = m * constant;
    if (c <= 0) return a > 0 ? Interval{} : kUnbounded;
    const double discriminant = b * b + 4 * a * c;
    if (discriminant < 0) return kUnbounded;
    const double root = std::sqrt(discriminant);
    return {-ratio(2 * c, root + b), ratio(2 * c, root - b)};
  }
};

Statistic statistic_of(const Line& line, double centre) {
  Statistic statistic{.slope_sum = line.slope_sums.front()};
  for (size_t i = 0; i < line.values.size(); ++i) {
    const double rest = line.values[i] - centre * line.slopes[i];
    statistic.constant += rest * rest;
    statistic.linear -= 2 * rest * line.slopes[i];
    statistic.square += line.slopes[i] * line.slopes[i];
  }
  return statistic;
}

/// The theta between the ratios of the kept and of the flipped part: on either side of the centre
/// the flipped sum is as far from 0 as the observed one until both parts have the same sign.
Interval between_parts(const Line& line, size_t pattern) {
  const double sum = line.value_sums.front(), flipped = line.value_sums[pattern];
  const double slopes = line.slope_sums.front(), flipped_slopes = line.slope_sums[pattern];
  const double kept_slopes = slopes + flipped_slopes, other_slopes = slopes - flipped_slopes;
  if (kept_slopes <= 0 || other_slopes <= 0) return kUnbounded;
  const double kept = (sum + flipped) / kept_slopes, other = (sum - flipped) / other_slopes;
  return {std::min(kept, other), std::max(kept, other)};
}

/// The ends between which at least `least` patterns support each theta, if they are finite.
std::optional<Interval> ends_of(std::vector<double> lows, std::vector<double> highs, size_t least) {
  const auto place = static_cast<std::ptrdiff_t>(least) - 1;
  std::ranges::nth_element(lows, lows.begin() + place);
  std::ranges::nth_element(highs, highs.begin() + place, std::greater<>());
  const Interval interval{lows[least - 1], highs[least - 1]};
  if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) return {};
  return interval;
}

}  // namespace

std::optional<Interval> supported(const Line& line, std::span<const double> rivals, size_t least) {
  const size_t patterns = line.value_sums.size();
  if (least > patterns) return {};
  const double centre = line.value_sums.front() / line.slope_sums.front();
  const auto statistic = statistic_of(line, centre);
  std::vector<double> lows(patterns), highs(patterns);
  for (size_t i = 0; i < patterns; ++i) {
    const auto own = between_parts(line, i);
    const auto rival = rivals.empty() ? Interval{} : statistic.within(rivals[i]);
    lows[i] = std::min(own.low, centre + rival.low);
    highs[i] = std::max(own.high, centre + rival.high);
  }
  return ends_of(std::move(lows), std::move(highs), least);
}

Interval agreeing(Interval interval, bool rejected, double centre) {
  if (!rejected) return {std::min(interval.low, 0.0), std::max(interval.high, 0.0)};
  constexpr double least = std::numeric_limits<double>::min();
  if (centre > 0) interval.low = std::max(interval.low, least);
  if (centre < 0) interval.high = std::min(interval.high, -least);
  return interval;
}

std::vector<double> own_p_statistics(const std::vector<double>& statistics, double rounding) {
  auto sorted = statistics;
  std::ranges::sort(sorted);
  std::vector<double> ranks;
  ranks.reserve(sorted.size());
  for (const double value : statistics)
    ranks.push_back(
        static_cast<double>(std::ranges::lower_bound(sorted, value - rounding) - sorted.end()));
  return ranks;
}

std::optional<Interval> supported_by_own_p(const Line& line, std::span<const double> rivals,
                                           size_t least) {
  const size_t patterns = line.value_sums.size();
  if (least > patterns) return {};
  std::vector<double> lows, highs;
  for (size_t i = 0; i < patterns; ++i) {
    const auto own = between_parts(line, i);
    lows.push_back(own.low);
    highs.push_back(own.high);
  }
  // Away from the centre one pattern after the other ceases to support theta by itself, and those
  // that remain are the observed p there: as long as they are at least a rival's, it supports
  // theta, too.
  auto sorted_lows = lows, sorted_highs = highs;
  std::ranges::sort(sorted_lows);
  std::ranges::sort(sorted_highs, std::greater<>());
  for (size_t i = 0; i < rivals.size(); ++i) {
    const auto place = static_cast<size_t>(-rivals[i]) - 1;
    lows[i] = std::min(lows[i], sorted_lows[place]);
    highs[i] = std::max(highs[i], sorted_highs[place]);
  }
  return ends_of(std::move(lows), std::move(highs), least);
}

}  // namespace ablate::statistics
