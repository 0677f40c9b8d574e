#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "experiments/analysis/statistics/estimates.h"

namespace ablate::statistics {

/// Each group of good runs has at least this many.
inline constexpr size_t kFewestGood = 3;

/// The gap below the good runs that collapsed runs are beyond.
struct CollapseGap {
  double ranges;     // of the good runs
  double of_median;  // a part of the good runs' median, without its sign
  double of_range;   // a part of the metric's range
};

/// Of metrics with a lowest and a highest value, such as BLEU, and of the others.
inline constexpr CollapseGap kCollapsedScore{4, 0.25, 0.05}, kCollapsedLoss{8, 0.1, 0};

/// The places of the runs that collapsed, sorted: from best to worst they come after the last gap,
/// which is also the largest, that is more than every part of the CollapseGap of `range`, if the
/// runs before it are at least half of all runs and kFewestGood. Values that are not finite have
/// collapsed if others are finite.
std::vector<size_t> collapsed_seeds(std::span<const double> values, bool higher_is_better,
                                    const Interval& range);

}  // namespace ablate::statistics
