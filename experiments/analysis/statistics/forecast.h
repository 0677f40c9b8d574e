#pragma once

#include <array>

namespace ablate::statistics {

/// How good a forecast was.
struct ForecastScore {
  bool inside = false;  // the value is between the 10 % and the 90 % quantile
  /// The width of that interval, and ten times the distance by which it missed the value, in the
  /// value's unit (Gneiting and Raftery 2007, section 6.2); smaller is better.
  double interval_score = 0;
  /// The square of the error of the probability that the value is positive; 0.25 by guessing. The
  /// probability is that of a normal distribution with a deviation of its own on either side of the
  /// median. A value of 0 counts half.
  double brier = 0;
};

/// REQUIRES: 10 %, 50 % and 90 % quantiles, ascending, and a finite value.
ForecastScore score_of(const std::array<double, 3>& quantiles, double value);

}  // namespace ablate::statistics
