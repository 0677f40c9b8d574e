#include "experiments/analysis/statistics/estimates.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/random.h"
#include "experiments/analysis/statistics/joint_test.h"
#include "experiments/analysis/statistics/sign_patterns.h"
#include "experiments/analysis/statistics/student.h"

namespace ablate::statistics {

Interval clipped(const Interval& interval, const Interval& range) {
  return {std::clamp(interval.low, range.low, range.high),
          std::clamp(interval.high, range.low, range.high)};
}

bool all_finite(std::span<const double> values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

double difference_of(double left, double right) {
  const double difference = left - right;
  const double rounding = kRounding * std::max(std::abs(left), std::abs(right));
  return std::isfinite(difference) && std::abs(difference) <= rounding ? 0 : difference;
}

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

int largest_exponent(std::span<const double> values, double centre) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value - centre));
  return most > 0 && std::isfinite(most) ? std::ilogb(most) : 0;
}

double deviation(std::span<const double> values) {
  if (values.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const auto [least, most] = std::ranges::minmax(values);
  if (difference_of(most, least) == 0) return 0;
  const double middle = mean(values);
  const int exponent = largest_exponent(values, middle);
  double squares = 0;
  for (const double value : values) {
    const double distance = std::ldexp(value - middle, -exponent);
    squares += distance * distance;
  }
  return std::ldexp(std::sqrt(squares / static_cast<double>(values.size() - 1)), exponent);
}

std::optional<Interval> t_interval(std::span<const double> values, double confidence) {
  if (values.size() < 2 || !all_finite(values)) return {};
  if (deviation(values) == 0) return sign_flip_interval(values, 1 - confidence);
  const double error = deviation(values) / std::sqrt(static_cast<double>(values.size()));
  const double half = t_quantile(std::ssize(values) - 1, confidence) * error;
  const double middle = mean(values);
  return Interval{middle - half, middle + half};
}

Interval wilson_interval(int64_t hits, int64_t count) {
  constexpr double z = kNormalQuantile;
  const auto n = static_cast<double>(count);
  const double share = static_cast<double>(hits) / n;
  const double scale = 1 + z * z / n;
  const double centre = (share + z * z / (2 * n)) / scale;
  const double half = z / scale * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

namespace {

/// The probability of `first` to `last` hits in `count` trials of this share.
double hits_p(int64_t first, int64_t last, int64_t count, double share) {
  const auto n = static_cast<double>(count);
  double p = 0;
  for (int64_t hits = first; hits <= last; ++hits) {
    const auto k = static_cast<double>(hits);
    const double ways = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
    p += std::exp(ways + k * std::log(share) + (n - k) * std::log1p(-share));
  }
  return p;
}

}  // namespace

Interval exact_interval(int64_t hits, int64_t count) {
  constexpr double kTail = (1 - kConfidence) / 2;
  Interval interval;
  for (double step = 0.5; step > 1e-15; step /= 2) {
    if (hits_p(hits, count, count, interval.low + step) < kTail) interval.low += step;
    if (hits_p(0, hits, count, interval.high + step) > kTail) interval.high += step;
  }
  return interval;
}

namespace {

constexpr size_t kSamples = 2000;

double middle_mean(std::vector<double>& all) {
  std::ranges::sort(all);
  const size_t cut = all.size() / 4;
  return mean(std::span(all).subspan(cut, all.size() - 2 * cut));
}

/// Linear between order statistics.
double percentile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - std::floor(place)) * (sorted[above] - sorted[below]);
}

}  // namespace

double interquartile_mean(const TaskScores& scores) {
  std::vector<double> all;
  for (const auto& task : scores) all.insert(all.end(), task.begin(), task.end());
  return middle_mean(all);
}

Interval interquartile_interval(const TaskScores& scores) {
  data::Random random(kResamplingSeed);
  std::vector<double> means, sample;
  for (size_t i = 0; i < kSamples; ++i) {
    sample.clear();
    for (const auto& task : scores)
      for (size_t run = 0; run < task.size(); ++run)
        sample.push_back(task[static_cast<size_t>(random.below(std::ssize(task)))]);
    means.push_back(middle_mean(sample));
  }
  std::ranges::sort(means);
  return {percentile(means, (1 - kConfidence) / 2), percentile(means, (1 + kConfidence) / 2)};
}

double probability_greater(std::span<const double> left, std::span<const double> right) {
  double wins = 0;
  for (const double one : left)
    for (const double other : right)
      wins += one == other || difference_of(one, other) == 0 ? 0.5 : one > other ? 1 : 0;
  return wins / static_cast<double>(left.size() * right.size());
}

}  // namespace ablate::statistics
