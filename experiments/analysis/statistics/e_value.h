#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "experiments/analysis/statistics/estimates.h"

namespace ablate::statistics {

// Tests of paired differences that come one after the other, which may be looked at after each of
// them: the e-value of a difference d is 2 / (1 + exp(-2 l d / s)), where s is the root mean square
// of the differences so far, and that of a sample the mean over rates l of their products (Ramdas
// et al. 2020, for symmetric distributions). Whatever the sizes of the differences, its mean is 1
// if their signs are even, so that it ever reaches 1 / level with a probability of at most the
// level (Ville 1939).
// REQUIRES in this file: finite values, in the order in which they came.

/// p of the hypothesis that the differences are symmetric about 0: one over the largest e-value of
/// all looks so far, at most 1.
double e_value_p(std::span<const double> differences);

/// The same of the hypothesis that their centre is at most 0, one-sided.
double e_value_greater_p(std::span<const double> differences);

/// From the smallest to the largest centre whose p is above `level`; contains 0 exactly if
/// e_value_p() is above it. Absent if it is unbounded.
std::optional<Interval> e_value_interval_at(std::span<const double> values, double level);

/// The smallest p that `count` differences can give, two-sided and one-sided.
double smallest_e_value_p(int64_t count);
double smallest_e_value_greater_p(int64_t count);

}  // namespace ablate::statistics
