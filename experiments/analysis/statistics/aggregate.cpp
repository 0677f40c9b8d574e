#include "experiments/analysis/statistics/aggregate.h"

#include <algorithm>
#include <cmath>

#include "data/random.h"
#include "experiments/analysis/statistics/mean.h"
#include "experiments/analysis/statistics/quantile.h"
#include "experiments/analysis/statistics/resampling.h"

namespace ablate::statistics {
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
    for (const double other : right) wins += one > other ? 1 : one == other ? 0.5 : 0;
  return wins / static_cast<double>(left.size() * right.size());
}

}  // namespace ablate::statistics
