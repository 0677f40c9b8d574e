#pragma once

#include <optional>
#include <span>

#include "experiments/analysis/statistics/interval.h"

namespace ablate::statistics {

/// NaN of nothing.
double mean(std::span<const double> values);

/// Of a sample: divided by n - 1. NaN of fewer than two values.
double deviation(std::span<const double> values);

/// Student's t-interval of the mean, n - 1 degrees of freedom, clipped to `range`, outside of which
/// no mean can lie: it holds the mean exactly as often as the whole interval. Nothing where there
/// are fewer than two values or one is not finite.
std::optional<Interval> t_interval(std::span<const double> values,
                                   const Interval& range = kUnbounded);

}  // namespace ablate::statistics
