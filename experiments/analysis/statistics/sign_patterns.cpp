#include "experiments/analysis/statistics/sign_patterns.h"

#include <algorithm>
#include <cmath>

#include "data/random.h"

namespace ablate::statistics {
namespace {

constexpr size_t kBlock = 8;

/// The sums of all patterns of at most kBlock values; a bit of the index flips its value.
std::vector<double> block_sums(std::span<const double> values) {
  std::vector<double> sums{0};
  for (const double value : values) {
    const size_t half = sums.size();
    for (size_t i = 0; i < half; ++i) {
      sums.push_back(sums[i] - value);
      sums[i] += value;
    }
  }
  return sums;
}

}  // namespace

SignPatterns::SignPatterns(size_t values, size_t size)
    : size_(size),
      flips_(std::max<size_t>(1, (values + kBlock - 1) / kBlock), std::vector<uint8_t>(size)) {}

SignPatterns SignPatterns::of(size_t values) {
  if (values > static_cast<size_t>(kMostExactFlips)) return drawn(values, kDrawnFlips);
  return half(values + 1);
}

SignPatterns SignPatterns::half(size_t values) {
  SignPatterns patterns(values, size_t{1} << (values - 1));
  for (size_t block = 0; block < patterns.flips_.size(); ++block)
    for (size_t i = 0; i < patterns.size_; ++i)
      patterns.flips_[block][i] = static_cast<uint8_t>(i >> (block * kBlock));
  return patterns;
}

SignPatterns SignPatterns::drawn(size_t values, int64_t draws) {
  SignPatterns patterns(values, static_cast<size_t>(draws) + 1);
  data::Random random(kResamplingSeed);
  for (size_t i = 1; i < patterns.size_; ++i) {
    for (size_t first = 0; first < values; first += kBlock) {
      const auto bits = static_cast<int64_t>(std::min(kBlock, values - first));
      patterns.flips_[first / kBlock][i] = static_cast<uint8_t>(random.below(int64_t{1} << bits));
    }
  }
  return patterns;
}

std::vector<double> SignPatterns::sums(std::span<const double> values) const {
  std::vector<double> sums(size_);
  for (size_t first = 0; first < values.size(); first += kBlock) {
    const auto block = block_sums(values.subspan(first, std::min(kBlock, values.size() - first)));
    const auto& flips = flips_[first / kBlock];
    for (size_t i = 0; i < size_; ++i) sums[i] += block[flips[i]];
  }
  return sums;
}

size_t patterns_above(double level, size_t patterns) {
  return static_cast<size_t>(std::floor(level * static_cast<double>(patterns))) + 1;
}

}  // namespace ablate::statistics
