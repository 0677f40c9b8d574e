#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace ablate::data {

/// SplitMix64 (Steele et al. 2014): small, seedable with any number, and the same on every
/// platform, which std::shuffle and the standard distributions are not.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  /// A separate stream for one purpose.
  Random(uint64_t seed, std::string_view purpose, uint64_t index = 0) : state_(seed) {
    for (const char letter : purpose) state_ = next() ^ static_cast<unsigned char>(letter);
    state_ = next() ^ index;
  }

  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  /// Uniform in [0, bound). REQUIRES: bound > 0.
  int64_t below(int64_t bound) {
    const auto range = static_cast<uint64_t>(bound);
    const uint64_t reject =
        (0 - range) % range;  // the first values would make the rest non-uniform
    uint64_t value = next();
    while (value < reject) value = next();
    return static_cast<int64_t>(value % range);
  }
  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11U) * 0x1p-53; }
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
