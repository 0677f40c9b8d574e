#include "experiments/analysis/statistics/sign_flip.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "data/random.h"
#include "experiments/analysis/statistics/resampling.h"

namespace ablate::statistics {
namespace {

/// Sums that only rounding tells apart are equal.
constexpr double kRounding = 1e-12;

/// How many of the sign patterns of `rest`, added to `sum`, are extreme.
template <class Extreme>
int64_t extreme_patterns(double sum, std::span<const double> rest, const Extreme& extreme) {
  if (rest.empty()) return extreme(sum) ? 1 : 0;
  const auto next = rest.subspan(1);
  return extreme_patterns(sum + rest.front(), next, extreme) +
         extreme_patterns(sum - rest.front(), next, extreme);
}

template <class Extreme>
double drawn_share(std::span<const double> values, const Extreme& extreme) {
  data::Random random(kResamplingSeed);
  int64_t hits = 0;
  for (int64_t trial = 0; trial < kDrawnFlips; ++trial) {
    double sum = 0;
    for (const double value : values) sum += random.below(2) == 0 ? value : -value;
    hits += extreme(sum) ? 1 : 0;
  }
  return static_cast<double>(hits + 1) / static_cast<double>(kDrawnFlips + 1);
}

template <class Extreme>
double extreme_share(std::span<const double> values, const Extreme& extreme) {
  const auto count = static_cast<int64_t>(values.size());
  if (count > kMostExactFlips) return drawn_share(values, extreme);
  return static_cast<double>(extreme_patterns(0, values, extreme)) /
         static_cast<double>(int64_t{1} << count);
}

double sum_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// By how much sums of such values may be wrong.
double rounding_of(std::span<const double> values) {
  double size = 0;
  for (const double value : values) size += std::abs(value);
  return kRounding * size;
}

}  // namespace

double sign_flip_p(std::span<const double> differences) {
  const double limit = std::abs(sum_of(differences)) - rounding_of(differences);
  return extreme_share(differences, [=](double sum) { return std::abs(sum) >= limit; });
}

double equivalence_p(std::span<const double> differences, double margin) {
  const double rounding =
      rounding_of(differences) + kRounding * margin * static_cast<double>(differences.size());
  double p = 0;
  for (const double side : {-1, 1}) {
    std::vector<double> distances;
    for (const double difference : differences) distances.push_back(margin + side * difference);
    const double limit = sum_of(distances) - rounding;
    p = std::max(p, extreme_share(distances, [=](double sum) { return sum >= limit; }));
  }
  return p;
}

double smallest_sign_flip_p(int64_t count) {
  return std::min(1.0, 2 * smallest_equivalence_p(count));
}

double smallest_equivalence_p(int64_t count) {
  return std::ldexp(1, -static_cast<int>(std::min<int64_t>(count, 1000)));
}

int64_t differences_needed(double level, int64_t comparisons, double (*smallest)(int64_t)) {
  int64_t count = 1;
  while (static_cast<double>(comparisons) * smallest(count) > level) ++count;
  return count;
}

}  // namespace ablate::statistics
