#pragma once

#include <cstdint>
#include <span>

namespace ablate::statistics {

/// More differences than this are tested by drawing flips instead of trying all of them.
inline constexpr int64_t kMostExactFlips = 20;
inline constexpr int64_t kDrawnFlips = 100'000;

/// Two-sided p of paired differences having the centre 0 (Fisher's randomisation test): the share
/// of sign patterns whose sum is at least as far from 0 as the observed one. Exact, all 2^n
/// patterns, to kMostExactFlips differences; beyond that (hits + 1) / (kDrawnFlips + 1) of patterns
/// drawn with a fixed seed. 1 of no differences. REQUIRES: finite values.
double sign_flip_p(std::span<const double> differences);

/// p of the centre of paired differences lying `margin` or more from 0: the greater one of two
/// one-sided tests (Schuirmann 1987), that it lies at -margin or below and at margin or above, each
/// the share of sign patterns of the distances from there whose sum is at least the observed one.
/// Exact or drawn as sign_flip_p(). REQUIRES: finite values, margin > 0.
double equivalence_p(std::span<const double> differences, double margin);

/// The smallest p that `count` differences can give: 2 / 2^n, at most 1.
double smallest_sign_flip_p(int64_t count);

/// The smallest p of equivalence that they can give: 1 / 2^n.
double smallest_equivalence_p(int64_t count);

/// The fewest differences whose smallest p, by one of the functions above, is at most `level` after
/// it is multiplied by `comparisons`.
int64_t differences_needed(double level, int64_t comparisons, double (*smallest)(int64_t));

}  // namespace ablate::statistics
