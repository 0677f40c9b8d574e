#include "experiments/analysis/statistics/joint_test.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "experiments/analysis/statistics/inversion.h"
#include "experiments/analysis/statistics/sign_patterns.h"

namespace ablate::statistics {
namespace {

using Samples = std::span<const std::vector<double>>;

double largest_size(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// Divided by the largest size, so that no square overflows or vanishes. Zeros remain.
std::vector<double> scaled(std::span<const double> values) {
  const double largest = largest_size(values);
  std::vector<double> result(values.begin(), values.end());
  if (largest > 0)
    for (double& value : result) value /= largest;
  return result;
}

double norm(std::span<const double> values) {
  return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

/// The statistic of a scaled sample under each pattern.
std::vector<double> statistics_of(std::span<const double> values, std::vector<double> sums,
                                  Side side) {
  const double size = norm(values);
  for (double& sum : sums) {
    if (side == Side::both) sum = std::abs(sum);
    sum = size > 0 ? sum / size : 0;
  }
  return sums;
}

double statistic_rounding(size_t seeds) {
  return kRounding * std::sqrt(static_cast<double>(seeds));
}

/// The measure by which samples are compared: the larger, the clearer.
std::vector<double> compared(std::vector<double> statistics, size_t seeds, Joint joint) {
  return joint == Joint::max_t ? std::move(statistics)
                               : own_p_statistics(statistics, statistic_rounding(seeds));
}

void raise(std::vector<double>& values, const std::vector<double>& others) {
  if (values.empty()) values.resize(others.size(), -std::numeric_limits<double>::infinity());
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::max(values[i], others[i]);
}

double share_at_least(const std::vector<double>& values, double limit) {
  const auto hits = std::ranges::count_if(values, [=](double value) { return value >= limit; });
  return static_cast<double>(hits) / static_cast<double>(values.size());
}

/// Statistics of all samples under all patterns, and the steps from the largest observed one.
struct StepDown {
  std::vector<std::vector<double>> statistics;  // [sample][pattern], the observed one first
  std::vector<size_t> order;
  std::vector<double> p;  // in that order, adjusted
  double rounding = 0;    // statistics that differ by less are equal

  double observed(size_t step) const { return statistics[order[step]].front(); }
};

StepDown step_down(std::vector<std::vector<double>> statistics, size_t seeds) {
  StepDown steps{.statistics = std::move(statistics), .rounding = statistic_rounding(seeds)};
  const size_t count = steps.statistics.size();
  steps.order.resize(count);
  std::iota(steps.order.begin(), steps.order.end(), size_t{0});
  std::ranges::stable_sort(steps.order, std::greater<>(),
                           [&](size_t i) { return steps.statistics[i].front(); });
  steps.p.resize(count);
  std::vector<double> largest;  // of the samples from this step on, under each pattern
  for (size_t step = count; step-- > 0;) {
    const auto& values = steps.statistics[steps.order[step]];
    raise(largest, values);
    steps.p[step] = share_at_least(largest, values.front() - steps.rounding);
  }
  for (size_t step = 1; step < count; ++step)
    steps.p[step] = std::max(steps.p[step], steps.p[step - 1]);
  return steps;
}

/// The largest statistic, under each pattern, of the samples that remained when the one of this
/// step and its equals were rejected, or at the end, without that one.
std::vector<double> rivals_of(const StepDown& steps, size_t step, double level) {
  size_t from = 0;
  while (steps.p[from] <= level && steps.observed(from) > steps.observed(step) + steps.rounding)
    ++from;
  std::vector<double> largest;
  for (size_t other = from; other < steps.order.size(); ++other)
    if (other != step) raise(largest, steps.statistics[steps.order[other]]);
  return largest;
}

}  // namespace

std::vector<std::optional<Interval>> joint_ratio_intervals(Samples samples, Samples baselines,
                                                           double level, Joint joint) {
  if (samples.empty()) return {};
  const size_t seeds = samples.front().size();
  const auto patterns = SignPatterns::of(seeds);
  std::vector<std::vector<double>> values, sums, statistics;
  for (const auto& sample : samples) {
    values.push_back(scaled(sample));
    sums.push_back(patterns.sums(values.back()));
    statistics.push_back(
        compared(statistics_of(values.back(), sums.back(), Side::both), seeds, joint));
  }
  const auto steps = step_down(std::move(statistics), seeds);
  std::vector<std::optional<Interval>> intervals(samples.size());
  for (size_t step = 0; step < samples.size(); ++step) {
    const size_t i = steps.order[step];
    if (!std::ranges::all_of(baselines[i], [](double slope) { return slope > 0; })) continue;
    const auto slope = scaled(baselines[i]);
    const auto slope_sums = patterns.sums(slope);
    const auto rivals = rivals_of(steps, step, level);
    const Line line{values[i], slope, sums[i], slope_sums};
    const auto least = patterns_above(level, patterns.size());
    const auto interval = joint == Joint::max_t ? supported(line, rivals, least)
                                                : supported_by_own_p(line, rivals, least);
    if (!interval) continue;
    const double scale = largest_size(samples[i]) / largest_size(baselines[i]);
    const Interval unscaled{interval->low * scale, interval->high * scale};
    intervals[i] = agreeing(unscaled, steps.p[step] <= level, sums[i].front());
  }
  return intervals;
}

std::vector<double> joint_sign_flip_p(Samples samples, Side side, Joint joint) {
  if (samples.empty()) return {};
  const size_t seeds = samples.front().size();
  const auto patterns = SignPatterns::of(seeds);
  std::vector<std::vector<double>> statistics;
  for (const auto& sample : samples) {
    const auto values = scaled(sample);
    statistics.push_back(
        compared(statistics_of(values, patterns.sums(values), side), seeds, joint));
  }
  const auto steps = step_down(std::move(statistics), seeds);
  std::vector<double> p(samples.size());
  for (size_t step = 0; step < p.size(); ++step) p[steps.order[step]] = steps.p[step];
  return p;
}

std::vector<std::optional<Interval>> joint_sign_flip_intervals(Samples samples, double level,
                                                               Joint joint) {
  std::vector<std::vector<double>> ones;
  for (const auto& sample : samples) ones.emplace_back(sample.size(), 1.0);
  return joint_ratio_intervals(samples, ones, level, joint);
}

std::optional<Interval> sign_flip_interval(std::span<const double> values, double level) {
  const std::vector<double> sample(values.begin(), values.end()), ones(values.size(), 1.0);
  return joint_ratio_intervals({&sample, 1}, {&ones, 1}, level, Joint::max_t).front();
}

}  // namespace ablate::statistics
