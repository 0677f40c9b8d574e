#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "experiments/analysis/statistics/estimates.h"

namespace ablate::statistics {

/// Each group of good runs has at least this many.
inline constexpr size_t kFewestGood = 3;

/// The gap below the good runs, in ranges of these, that collapsed runs are beyond.
inline constexpr double kCollapseGap = 8;

/// It is also at least this part of `range`, or of the size of the good runs' median if the range
/// is unbounded.
inline constexpr double kCollapseFloor = 0.1;

/// The places of the runs that collapsed, sorted: from best to worst they come after the last gap,
/// which is also the largest, that is more than kCollapseGap times the range of the runs before it
/// and more than the floor above, if those are at least half of all runs and kFewestGood. Values
/// that are not finite have collapsed if others are finite.
std::vector<size_t> collapsed_seeds(std::span<const double> values, bool higher_is_better,
                                    const Interval& range);

}  // namespace ablate::statistics
