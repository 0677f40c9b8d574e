#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ablate::statistics {

/// More values than this are tested with random sign patterns instead of all of them.
inline constexpr int64_t kMostExactFlips = 16;
inline constexpr int64_t kDrawnFlips = 100'000;

/// Relative rounding error of sums that count as equal.
inline constexpr double kRounding = 1e-12;

/// The seed of all resampling, so that the same runs always give the same p values.
inline constexpr uint64_t kResamplingSeed = 1;

/// Patterns of signs, each of which keeps or flips each of n values. The first keeps all.
class SignPatterns {
 public:
  /// All 2^n patterns up to kMostExactFlips values, else kDrawnFlips drawn ones besides the first.
  /// So p, the share of patterns with a property of the first, is exact or (hits + 1) / (draws +
  /// 1).
  static SignPatterns of(size_t values);
  /// The patterns that keep the last value: one of each pair with opposite signs.
  static SignPatterns half(size_t values);
  /// The first pattern, and others drawn with a fixed seed.
  static SignPatterns drawn(size_t values, int64_t draws);

  size_t size() const { return size_; }
  /// The sum of the values with the signs of each pattern. Opposite patterns have exactly opposite
  /// sums.
  std::vector<double> sums(std::span<const double> values) const;

 private:
  SignPatterns(size_t values, size_t size);

  size_t size_;
  std::vector<std::vector<uint8_t>> flips_;  // a bit for each of eight values: [n / 8][size]
};

/// The least number of patterns whose share is greater than `level`.
size_t patterns_above(double level, size_t patterns);

}  // namespace ablate::statistics
