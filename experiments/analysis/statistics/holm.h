#pragma once

#include <span>
#include <vector>

namespace ablate::statistics {

/// Holm's step-down adjustment (Holm 1979), in the order of `p`: an adjusted p of at most a level
/// keeps the chance of any false claim among all of them at that level. Where no more than
/// `most_true` of the hypotheses can be true at once, no p is multiplied by more (Shaffer 1986).
std::vector<double> holm(std::span<const double> p, size_t most_true);

/// The same where all hypotheses can be true at once.
inline std::vector<double> holm(std::span<const double> p) { return holm(p, p.size()); }

}  // namespace ablate::statistics
