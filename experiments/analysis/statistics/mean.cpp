#include "experiments/analysis/statistics/mean.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/analysis/statistics/quantile.h"

namespace ablate::statistics {

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double deviation(std::span<const double> values) {
  if (values.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::optional<Interval> t_interval(std::span<const double> values, const Interval& range) {
  const bool finite =
      std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
  if (values.size() < 2 || !finite) return {};
  const auto count = static_cast<double>(values.size());
  const double half = t_quantile(std::ssize(values) - 1) * deviation(values) / std::sqrt(count);
  const double middle = mean(values);
  return Interval{std::max(middle - half, range.low), std::min(middle + half, range.high)};
}

}  // namespace ablate::statistics
