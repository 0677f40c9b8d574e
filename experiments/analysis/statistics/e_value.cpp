#include "experiments/analysis/statistics/e_value.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "experiments/analysis/statistics/inversion.h"

namespace ablate::statistics {
namespace {

constexpr std::array kRates{0.3, 0.6, 1.0, 2.0, 8.0};

double growth(double bet) { return 2 / (1 + std::exp(-2 * bet)); }

/// The largest e-value of all looks at the values minus `centre`; with rates of one sign that of
/// the hypothesis that the centre is smaller.
double largest_e_value(std::span<const double> values, double centre, bool two_sided) {
  std::array<double, kRates.size()> up, down;
  up.fill(1);
  down.fill(two_sided ? 1 : 0);
  double largest = 1, squares = 0;
  const int exponent = largest_exponent(values, centre);
  for (size_t seen = 1; seen <= values.size(); ++seen) {
    const double difference = std::ldexp(values[seen - 1] - centre, -exponent);
    squares += difference * difference;
    if (squares == 0) continue;
    const double size = difference / std::sqrt(squares / static_cast<double>(seen));
    for (size_t i = 0; i < kRates.size(); ++i) {
      up[i] *= growth(kRates[i] * size);
      down[i] *= growth(-kRates[i] * size);
    }
    const double sum =
        std::accumulate(up.begin(), up.end(), 0.0) + std::accumulate(down.begin(), down.end(), 0.0);
    largest = std::max(largest, sum / static_cast<double>(kRates.size() * (two_sided ? 2 : 1)));
  }
  return largest;
}

/// The end of the centres that are not rejected, on one side of `inside`, which is not: the
/// outermost of some distances, and then halves.
template <class Rejects>
std::optional<double> end_of(double inside, double reach, const Rejects& rejects) {
  constexpr double kFarthest = 1e3, kNearest = 1e-4;
  constexpr int kSteps = 120, kHalves = 50;
  const double step = std::pow(kNearest / kFarthest, 1.0 / kSteps);
  double outside = inside + kFarthest * reach;
  if (!rejects(outside)) return {};
  double distance = kFarthest;
  double kept = inside;
  for (int i = 0; i < kSteps && kept == inside; ++i) {
    distance *= step;
    if (const double next = inside + distance * reach; rejects(next))
      outside = next;
    else
      kept = next;
  }
  for (int i = 0; i < kHalves; ++i) {
    const double middle = std::midpoint(kept, outside);
    (rejects(middle) ? outside : kept) = middle;
  }
  return kept;
}

}  // namespace

double e_value_p(std::span<const double> differences) {
  return 1 / largest_e_value(differences, 0, /*two_sided=*/true);
}

double e_value_greater_p(std::span<const double> differences) {
  return 1 / largest_e_value(differences, 0, /*two_sided=*/false);
}

std::optional<Interval> e_value_interval_at(std::span<const double> values, double level) {
  if (values.empty()) return {};
  const auto rejects = [&](double centre) {
    return 1 / largest_e_value(values, centre, /*two_sided=*/true) <= level;
  };
  std::vector<double> inside(values.begin(), values.end());
  inside.push_back(mean(values));
  const auto kept = std::ranges::find_if_not(inside.rbegin(), inside.rend(), rejects);
  if (kept == inside.rend()) return {};
  const auto [least, most] = std::ranges::minmax(values);
  const double reach = most > least ? most - least : std::abs(most) + 1;
  const auto low = end_of(*kept, -reach, rejects), high = end_of(*kept, reach, rejects);
  if (!low || !high) return {};
  return agreeing({*low, *high}, rejects(0), *kept);
}

namespace {

/// The product of bets at this rate if each difference is much larger than all before it.
double largest_product(double rate, int64_t count) {
  double product = 1;
  for (int64_t seen = 1; seen <= count; ++seen)
    product *= growth(rate * std::sqrt(static_cast<double>(seen)));
  return product;
}

}  // namespace

double smallest_e_value_p(int64_t count) {
  double sum = 0;
  for (const double rate : kRates)
    sum += largest_product(rate, count) + largest_product(-rate, count);
  return static_cast<double>(2 * kRates.size()) / sum;
}

double smallest_e_value_greater_p(int64_t count) {
  double sum = 0;
  for (const double rate : kRates) sum += largest_product(rate, count);
  return static_cast<double>(kRates.size()) / sum;
}

}  // namespace ablate::statistics
