#pragma once

#include <limits>
#include <string>

namespace ablate::options {

/// The numbers that a value may be. NaN is never one of them.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;   // low itself is not allowed
  bool below_high = false;  // high itself is not allowed

  constexpr bool hold(double value) const {
    return (above_low ? value > low : value >= low) && (below_high ? value < high : value <= high);
  }
  /// Whether a number can be outside.
  constexpr bool given() const {
    return low > -std::numeric_limits<double>::infinity() ||
           high < std::numeric_limits<double>::infinity();
  }
};

/// low <= value <= high
constexpr Bounds from(double low, double high) { return {.low = low, .high = high}; }
/// low <= value < high
constexpr Bounds from_below(double low, double high) {
  return {.low = low, .high = high, .below_high = true};
}
/// low < value < high
constexpr Bounds between(double low, double high) {
  return {.low = low, .high = high, .above_low = true, .below_high = true};
}
/// low < value <= high
constexpr Bounds above(double low, double high = std::numeric_limits<double>::infinity()) {
  return {.low = low, .high = high, .above_low = true};
}
/// low <= value
constexpr Bounds at_least(double low) { return {.low = low}; }

/// "from 1 to 1024", "at least 0 and below 1", "above 0"
std::string text_of(const Bounds& bounds);

}  // namespace ablate::options
