#pragma once

#include <span>
#include <vector>

namespace ablate::statistics {

/// Holm's step-down adjustment (Holm 1979), in the order of `p`: an adjusted p of at most a level
/// keeps the chance of any false claim among all of them at that level.
std::vector<double> holm(std::span<const double> p);

}  // namespace ablate::statistics
