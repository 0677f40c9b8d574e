#pragma once

#include <cstdint>

#include "models/random.h"

namespace ablate::models {

/// Which elements of rows a dropout drops, and by how much it scales the others: a pure function of
/// seed, row and column, so that a backward pass draws the same again.
struct DropoutMask {
  uint64_t seed = 0;
  uint32_t threshold = 0;  // an element is dropped when its random bits are below
  float scale = 1.0F;

  /// The key of one row's random bits.
  constexpr uint32_t row_key(int64_t row) const {
    return static_cast<uint32_t>(mix(seed ^ (static_cast<uint64_t>(row) * 0xd1342543de82ef95U)));
  }
  /// Factor of one element: 0 when dropped, `scale` when kept.
  [[gnu::always_inline]] constexpr float factor(uint32_t row_key, uint32_t column) const {
    uint32_t bits = (column * 0x9e3779b1U) ^ row_key;
    bits ^= bits >> 16;
    bits *= 0x7feb352dU;
    bits ^= bits >> 15;
    bits *= 0x846ca68bU;
    bits ^= bits >> 16;
    return bits < threshold ? 0.0F : scale;
  }
};

}  // namespace ablate::models
