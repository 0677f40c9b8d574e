#include "experiments/analysis/contrast.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "experiments/analysis/statistics/e_value.h"
#include "experiments/analysis/statistics/estimates.h"
#include "experiments/analysis/statistics/joint_test.h"

namespace ablate::analysis {

Sample sample_of(std::vector<double> values, const statistics::Interval& range) {
  Sample sample{.values = std::move(values)};
  const auto finished = finished_values(sample);
  sample.count = std::ssize(finished);
  sample.mean = statistics::mean(finished);
  sample.deviation = statistics::deviation(finished);
  sample.interval = interval_of(finished, config::PairedTest::sign_flip, range);
  return sample;
}

std::vector<double> finished_values(const Sample& sample) {
  std::vector<double> finished;
  std::ranges::copy_if(sample.values, std::back_inserter(finished),
                       [](double value) { return !std::isnan(value); });
  return finished;
}

std::optional<SuccessRate> success_of(const Sample& sample) {
  constexpr double kSolved = 0.95;
  const auto values = finished_values(sample);
  if (values.empty()) return {};
  SuccessRate rate{.runs = std::ssize(values)};
  rate.solved = std::ranges::count_if(values, [](double value) { return value >= kSolved; });
  rate.interval = statistics::wilson_interval(rate.solved, rate.runs);
  return rate;
}

std::vector<size_t> pairs_of(const Sample& arm, const Sample& baseline) {
  std::vector<size_t> pairs;
  for (size_t i = 0; i < arm.values.size(); ++i)
    if (!std::isnan(arm.values[i]) && !std::isnan(baseline.values[i])) pairs.push_back(i);
  return pairs;
}

std::vector<double> differences_by_seed(const Sample& arm, const Sample& baseline) {
  std::vector<double> differences;
  for (size_t i = 0; i < arm.values.size(); ++i)
    differences.push_back(statistics::difference_of(arm.values[i], baseline.values[i]));
  return differences;
}

Contrast contrast_of(const Cell& arm, const Sample& baseline, config::PairedTest test) {
  Contrast contrast;
  if (is_censored(arm.sample) || is_censored(baseline)) {
    contrast.mean = contrast.improvement = kUntested;
    return contrast;
  }
  for (const size_t i : pairs_of(arm.sample, baseline))
    contrast.differences.push_back(
        statistics::difference_of(arm.sample.values[i], baseline.values[i]));
  contrast.mean = statistics::mean(contrast.differences);
  contrast.interval =
      interval_of(contrast.differences, test, statistics::differences_in(arm.range));
  const auto mine = finished_values(arm.sample), others = finished_values(baseline);
  if (arm.direction == Direction::neither)
    contrast.improvement = kUntested;
  else
    contrast.improvement = arm.direction == Direction::higher
                               ? statistics::probability_greater(mine, others)
                               : statistics::probability_greater(others, mine);
  return contrast;
}

std::optional<statistics::Interval> interval_at(const std::vector<double>& values,
                                                config::PairedTest test, double level) {
  if (test == config::PairedTest::t) return statistics::t_interval(values, 1 - level);
  if (test == config::PairedTest::e_value) return statistics::e_value_interval_at(values, level);
  return statistics::sign_flip_interval(values, level);
}

std::optional<statistics::Interval> interval_of(const std::vector<double>& values,
                                                config::PairedTest test,
                                                const statistics::Interval& range) {
  if (!statistics::all_finite(values)) return {};
  const auto interval = interval_at(values, test, 1 - statistics::kConfidence);
  // The ends by sign flips are means of some values.
  if (!interval || test == config::PairedTest::sign_flip) return interval;
  return statistics::clipped(*interval, range);
}

}  // namespace ablate::analysis
