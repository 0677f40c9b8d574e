#include "experiments/analysis/statistics/collapse.h"

#include <algorithm>
#include <cmath>

namespace ablate::statistics {
namespace {

/// Of values sorted from best to worst.
double median(std::span<const double> sorted) {
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/// The least gap, in the metric's units, below these good runs.
double least_gap(std::span<const double> good, const Interval& range) {
  const double width = range.high - range.low;
  const auto& gap = std::isfinite(width) ? kCollapsedScore : kCollapsedLoss;
  return std::max({gap.ranges * std::abs(good.front() - good.back()),
                   gap.of_median * std::abs(median(good)),
                   std::isfinite(width) ? gap.of_range * width : 0});
}

/// How many of the finite values, sorted from best to worst, are good; `all` counts also others.
size_t good_runs(std::span<const double> sorted, size_t all, const Interval& range) {
  size_t good = sorted.size();
  for (size_t count = std::max(kFewestGood, (all + 1) / 2); count < sorted.size(); ++count) {
    const double gap = std::abs(sorted[count - 1] - sorted[count]);
    if (gap > least_gap(sorted.first(count), range)) good = count;
  }
  return good;
}

}  // namespace

std::vector<size_t> collapsed_seeds(std::span<const double> values, bool higher_is_better,
                                    const Interval& range) {
  std::vector<double> sorted;
  for (const double value : values)
    if (std::isfinite(value)) sorted.push_back(value);
  if (sorted.empty()) return {};
  std::ranges::sort(sorted);
  if (higher_is_better) std::ranges::reverse(sorted);
  const double worst_good = sorted[good_runs(sorted, values.size(), range) - 1];
  std::vector<size_t> collapsed;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool worse = higher_is_better ? values[i] < worst_good : values[i] > worst_good;
    if (!std::isfinite(values[i]) || worse) collapsed.push_back(i);
  }
  return collapsed;
}

}  // namespace ablate::statistics
