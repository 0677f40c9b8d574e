#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "experiments/analysis/statistics/estimates.h"

namespace ablate::statistics {

/// Two-sided p of the hypothesis that paired differences are symmetric about 0 (Fisher's
/// randomisation test): the share of sign patterns whose sum is at least as far from 0 as the
/// observed one, which is joint_sign_flip_p() of one sample. 1 if there are no differences.
/// REQUIRES: finite values.
double sign_flip_p(std::span<const double> differences);

/// p of the hypothesis that the centre of paired differences is `margin` or more from 0: the
/// greater p of two one-sided tests (Schuirmann 1987), of a centre <= -margin and of a centre >=
/// margin. Each is the share of sign patterns of the distances from that bound whose sum is at
/// least the observed one. Exact or drawn as in sign_flip_p(). REQUIRES: finite values, margin > 0.
double equivalence_p(std::span<const double> differences, double margin);

/// The interval of equivalence_p(): between -margin and margin if and only if that p is at most
/// `level`. Each end is the mean of some of the differences (Hartigan 1969). Absent if there are
/// too few differences for a p of that level.
std::optional<Interval> equivalence_interval(std::span<const double> differences, double level);

/// Two-sided p of the paired t-test (Student 1908) of the hypothesis that the mean is 0, which
/// assumes normal differences. 1 of fewer than two; sign_flip_p() if they are equal, for without
/// scatter there is no t. REQUIRES: finite values.
double t_test_p(std::span<const double> differences);

/// The same of the hypothesis that the mean is <= 0, one-sided.
double t_greater_p(std::span<const double> differences);

/// The smallest p that `count` differences can give: 2 / 2^n, at most 1.
double smallest_sign_flip_p(int64_t count);

/// The smallest p of equivalence that `count` differences can give: 1 / 2^n.
double smallest_equivalence_p(int64_t count);

/// The fewest differences whose smallest p, by one of the functions above, is at most `level` after
/// it is multiplied by `comparisons`.
int64_t differences_needed(double level, int64_t comparisons, double (*smallest)(int64_t));

/// The factor of all p at the k-th look at a question, pi^2 k^2 / 6, by which the chance of
/// a false claim at any of all looks there may ever be is at most the level of one. 1 for look 0,
/// which is of no series.
double look_factor(int64_t look);

/// The places of the smallest p, of the next one, and so on; of equal ones in their order.
std::vector<size_t> ascending_order(std::span<const double> p);

/// Holm's step-down adjustment (Holm 1979), in the order of `p`: an adjusted p of at most a level
/// keeps the chance of any false claim among all of them at that level.
std::vector<double> holm(std::span<const double> p);

/// The q of each p: the smallest rate of false discoveries at which its hypothesis is rejected
/// among all of them (Benjamini and Hochberg 1995).
std::vector<double> false_discovery_rates(std::span<const double> p);

}  // namespace ablate::statistics
