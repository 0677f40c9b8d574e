#pragma once

#include <optional>
#include <span>

namespace ablate::statistics {

struct Observation {
  double x = 0, y = 0;
};

/// y = factor * x^exponent.
struct PowerLaw {
  double factor = 0, exponent = 0;
  double r_squared = 0;  // share of the variance of log y that the law accounts for

  double at(double x) const;
};

/// The law with the least squares of log y (Kaplan et al. 2020, section 3). Absent if there are
/// fewer than three different x, or a number is not positive and finite.
std::optional<PowerLaw> fit_power_law(std::span<const Observation> observations);

}  // namespace ablate::statistics
