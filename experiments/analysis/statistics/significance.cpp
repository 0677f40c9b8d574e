#include "experiments/analysis/statistics/significance.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "experiments/analysis/statistics/estimates.h"
#include "experiments/analysis/statistics/joint_test.h"
#include "experiments/analysis/statistics/sign_patterns.h"
#include "experiments/analysis/statistics/student.h"

namespace ablate::statistics {
namespace {

/// The rounding error that sums of the values may have.
double rounding_of(std::span<const double> values) {
  double size = 0;
  for (const double value : values) size += std::abs(value);
  return kRounding * size;
}

/// Student's t of differences that are not all equal.
double t_of(std::span<const double> differences) {
  return mean(differences) * std::sqrt(static_cast<double>(differences.size())) /
         deviation(differences);
}

/// The mean of such values has no standard error, so there is no t.
bool all_equal(std::span<const double> values) { return deviation(values) == 0; }

}  // namespace

double sign_flip_p(std::span<const double> differences) {
  const std::vector<double> sample(differences.begin(), differences.end());
  return joint_sign_flip_p({&sample, 1}, Side::both).front();
}

double equivalence_p(std::span<const double> differences, double margin) {
  const auto patterns = SignPatterns::of(differences.size());
  const double rounding =
      rounding_of(differences) + kRounding * margin * static_cast<double>(differences.size());
  double p = 0;
  for (const double side : {-1, 1}) {
    std::vector<double> distances;
    for (const double difference : differences) distances.push_back(margin + side * difference);
    const auto sums = patterns.sums(distances);
    const auto hits =
        std::ranges::count_if(sums, [&](double sum) { return sum >= sums.front() - rounding; });
    p = std::max(p, static_cast<double>(hits) / static_cast<double>(patterns.size()));
  }
  return p;
}

std::optional<Interval> equivalence_interval(std::span<const double> differences, double level) {
  const auto patterns = SignPatterns::of(differences.size());
  const auto sums = patterns.sums(differences);
  const auto kept = patterns.sums(std::vector<double>(differences.size(), 1.0));
  std::vector<double> means;  // of the values that a pattern flips
  for (size_t i = 0; i < patterns.size(); ++i)
    if (kept[i] < kept.front())
      means.push_back((sums.front() - sums[i]) / (kept.front() - kept[i]));
  std::ranges::sort(means);
  const size_t hits =
      patterns_above(level, patterns.size()) - 1;  // with the patterns that keep all
  const size_t keeping = patterns.size() - means.size();
  if (hits < keeping) return {};
  return Interval{means[hits - keeping], means[means.size() - 1 - (hits - keeping)]};
}

double t_test_p(std::span<const double> differences) {
  if (differences.size() < 2) return 1;
  if (all_equal(differences)) return sign_flip_p(differences);
  return t_tail(t_of(differences), std::ssize(differences) - 1);
}

double t_greater_p(std::span<const double> differences) {
  if (differences.size() < 2) return 1;
  if (all_equal(differences)) {
    const std::vector<double> sample(differences.begin(), differences.end());
    return joint_sign_flip_p({&sample, 1}, Side::greater).front();
  }
  const double half = t_test_p(differences) / 2;
  return mean(differences) > 0 ? half : 1 - half;
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

double look_factor(int64_t look) {
  const auto k = static_cast<double>(look);
  return look == 0 ? 1 : std::numbers::pi * std::numbers::pi * k * k / 6;
}

std::vector<size_t> ascending_order(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return p[i]; });
  return order;
}

std::vector<double> holm(std::span<const double> p) {
  const auto order = ascending_order(p);
  std::vector<double> adjusted(p.size());
  double before = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const auto factor = static_cast<double>(p.size() - rank);
    before = std::max(before, std::min(1.0, factor * p[order[rank]]));
    adjusted[order[rank]] = before;
  }
  return adjusted;
}

std::vector<double> false_discovery_rates(std::span<const double> p) {
  const auto order = ascending_order(p);
  std::vector<double> rates(p.size());
  double above = 1;
  for (size_t rank = order.size(); rank > 0; --rank) {
    const auto count = static_cast<double>(p.size());
    above = std::min(above, p[order[rank - 1]] * count / static_cast<double>(rank));
    rates[order[rank - 1]] = above;
  }
  return rates;
}

}  // namespace ablate::statistics
