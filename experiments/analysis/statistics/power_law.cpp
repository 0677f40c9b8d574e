#include "experiments/analysis/statistics/power_law.h"

#include <cmath>
#include <set>

namespace ablate::statistics {
namespace {

bool has_logarithm(double number) { return std::isfinite(number) && number > 0; }

}  // namespace

double PowerLaw::at(double x) const { return factor * std::pow(x, exponent); }

std::optional<PowerLaw> fit_power_law(std::span<const Observation> observations) {
  std::set<double> sizes;
  double mean_x = 0, mean_y = 0;
  const auto count = static_cast<double>(observations.size());
  for (const auto& [x, y] : observations) {
    if (!has_logarithm(x) || !has_logarithm(y)) return {};
    sizes.insert(x);
    mean_x += std::log(x) / count;
    mean_y += std::log(y) / count;
  }
  if (sizes.size() < 3) return {};
  double xx = 0, xy = 0, yy = 0;
  for (const auto& [x, y] : observations) {
    const double dx = std::log(x) - mean_x, dy = std::log(y) - mean_y;
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  const double exponent = xy / xx;
  return PowerLaw{.factor = std::exp(mean_y - exponent * mean_x),
                  .exponent = exponent,
                  .r_squared = yy > 0 ? exponent * xy / yy : 1};
}

}  // namespace ablate::statistics
