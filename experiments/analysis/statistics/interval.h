#pragma once

#include <limits>

namespace ablate::statistics {

/// Both ends belong to it.
struct Interval {
  double low = 0, high = 0;
  bool operator==(const Interval&) const = default;
};

/// Of what has no bounds.
inline constexpr Interval kUnbounded{-std::numeric_limits<double>::infinity(),
                                     std::numeric_limits<double>::infinity()};

/// What the difference of two values in `range` can be.
constexpr Interval differences_in(const Interval& range) {
  return {range.low - range.high, range.high - range.low};
}

}  // namespace ablate::statistics
