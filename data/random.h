#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ablate::data {

/// SplitMix64 (Steele et al. 2014): small, seedable with any number, and the same on every
/// platform, which std::shuffle and the standard distributions are not.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  /// A stream of its own for one purpose.
  Random(uint64_t seed, std::string_view purpose, uint64_t index = 0);

  uint64_t next();
  /// Uniform in [0, bound). REQUIRES: bound > 0.
  int64_t below(int64_t bound);
  /// Uniform in [low, high].
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }

  template <class T>
  void shuffle(std::vector<T>& values) {
    for (size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[static_cast<size_t>(below(static_cast<int64_t>(i)))]);
  }

 private:
  uint64_t state_;
};

}  // namespace ablate::data
