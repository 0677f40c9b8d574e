#pragma once

#include <cstdint>
#include <string_view>

namespace ablate::models {

/// Mixes 64 bits (the finaliser of SplitMix64, Steele et al. 2014).
constexpr uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// The seed of one named consumer of randomness ("order", "encoder.layers.0.feed_forward.up"), so
/// that no two share a stream and none shifts because another one is added.
constexpr uint64_t derive_seed(uint64_t seed, std::string_view name, uint64_t index = 0) {
  uint64_t mixed = mix(seed);
  for (const char letter : name) mixed = mix(mixed ^ static_cast<unsigned char>(letter));
  return mix(mixed ^ mix(index));
}

}  // namespace ablate::models
