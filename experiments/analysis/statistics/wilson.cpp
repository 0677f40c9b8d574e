#include "experiments/analysis/statistics/wilson.h"

#include <algorithm>
#include <cmath>

#include "experiments/analysis/statistics/quantile.h"

namespace ablate::statistics {

Interval wilson_interval(int64_t hits, int64_t count) {
  constexpr double z = kNormalQuantile;
  const auto n = static_cast<double>(count);
  const double share = static_cast<double>(hits) / n;
  const double scale = 1 + z * z / n;
  const double centre = (share + z * z / (2 * n)) / scale;
  const double half = z / scale * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

}  // namespace ablate::statistics
