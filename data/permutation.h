#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "data/random.h"

namespace ablate::data {

/// A random order of the numbers below `count` that takes no memory: a Feistel network over the
/// next power of four, applied again to a number beyond `count` (Black & Rogaway 2002, "Ciphers
/// with arbitrary finite domains").
class Permutation {
 public:
  Permutation(int64_t count, Random random)
      : count_(static_cast<uint64_t>(count)),
        half_((static_cast<unsigned>(std::bit_width(count_)) + 1) / 2) {
    for (auto& key : keys_) key = random.next();
  }

  /// The number at a place. REQUIRES: 0 <= place < count.
  int64_t operator()(int64_t place) const {
    auto number = static_cast<uint64_t>(place);
    do number = mixed(number);
    while (number >= count_);
    return static_cast<int64_t>(number);
  }

 private:
  uint64_t mixed(uint64_t number) const {
    const uint64_t mask = (uint64_t{1} << half_) - 1;
    uint64_t left = number >> half_, right = number & mask;
    for (const auto key : keys_) {
      const uint64_t next = left ^ (Random(key ^ right).next() & mask);
      left = right;
      right = next;
    }
    return left << half_ | right;
  }

  uint64_t count_;
  unsigned half_;                   // bits of each half of a number
  std::array<uint64_t, 8> keys_{};  // one for each round
};

}  // namespace ablate::data
