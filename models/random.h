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

/// Where a pass draws random numbers: at a site (Module::site), in a round of a layer that runs
/// several times.
struct NoiseSite {
  uint64_t site = 0, round = 0;

  /// The seed there in the pass of this seed.
  constexpr uint64_t seed_of(uint64_t pass) const {
    return mix((round == 0 ? pass : derive_seed(pass, "round", round)) ^ site);
  }
};

/// The elements of rows that a dropout drops, and the scale of the others: a pure function of seed,
/// row and column, so that a backward pass draws the same mask again.
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
