#pragma once

namespace ablate::statistics {

/// Both ends belong to it.
struct Interval {
  double low = 0, high = 0;
  bool operator==(const Interval&) const = default;
};

}  // namespace ablate::statistics
