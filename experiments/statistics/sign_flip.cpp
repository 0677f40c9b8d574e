#include "experiments/statistics/sign_flip.h"

#include <algorithm>
#include <cmath>

#include "experiments/statistics/numpy_random.h"

namespace ablate::statistics {
namespace {

/// Sums that only rounding tells apart are equal.
constexpr double kRounding = 1e-12;

/// How many of the sign patterns of `rest`, added to `sum`, end at least `limit` from 0.
int64_t extreme_patterns(double sum, std::span<const double> rest, double limit) {
  if (rest.empty()) return std::abs(sum) >= limit ? 1 : 0;
  const auto next = rest.subspan(1);
  return extreme_patterns(sum + rest.front(), next, limit) +
         extreme_patterns(sum - rest.front(), next, limit);
}

double drawn_p(std::span<const double> differences, double limit) {
  NumpyRandom random(kResamplingSeed);
  int64_t hits = 0;
  for (int64_t trial = 0; trial < kDrawnFlips; ++trial) {
    double sum = 0;
    for (const double difference : differences)
      sum += random.below(2) == 0 ? difference : -difference;
    hits += std::abs(sum) >= limit ? 1 : 0;
  }
  return static_cast<double>(hits + 1) / static_cast<double>(kDrawnFlips + 1);
}

}  // namespace

double sign_flip_p(std::span<const double> differences) {
  if (differences.empty()) return 1;
  double sum = 0, size = 0;
  for (const double difference : differences) {
    sum += difference;
    size += std::abs(difference);
  }
  const double limit = std::abs(sum) - kRounding * size;
  const auto count = static_cast<int64_t>(differences.size());
  if (count > kMostExactFlips) return drawn_p(differences, limit);
  // A pattern and its opposite are equally far from 0, so the first sign may stay.
  const auto hits = extreme_patterns(differences.front(), differences.subspan(1), limit);
  return static_cast<double>(hits) / static_cast<double>(int64_t{1} << (count - 1));
}

double smallest_sign_flip_p(int64_t count) {
  return std::min(1.0, std::ldexp(2, -static_cast<int>(std::min<int64_t>(count, 1000))));
}

int64_t differences_needed(double level, int64_t comparisons) {
  int64_t count = 1;
  while (static_cast<double>(comparisons) * smallest_sign_flip_p(count) > level) ++count;
  return count;
}

}  // namespace ablate::statistics
