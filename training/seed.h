#pragma once

#include <cstdint>
#include <string_view>

#include "models/kernel/vector_math.h"

namespace ablate::training {

/// A seed for one purpose of a run ("weights", "order", "dropout"), so that no two consumers of
/// randomness share a stream.
constexpr uint64_t derive_seed(uint64_t seed, std::string_view purpose, uint64_t index = 0) {
  uint64_t mixed = models::kernel::mix(seed);
  for (const char letter : purpose)
    mixed = models::kernel::mix(mixed ^ static_cast<unsigned char>(letter));
  return models::kernel::mix(mixed ^ models::kernel::mix(index));
}

}  // namespace ablate::training
