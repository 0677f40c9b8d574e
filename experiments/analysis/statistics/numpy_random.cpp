#include "experiments/analysis/statistics/numpy_random.h"

#include <array>
#include <bit>

namespace ablate::statistics {
namespace {

constexpr size_t kPool = 4;

/// SeedSequence's hash, whose multiplier changes with every value.
class Hash {
 public:
  Hash(uint32_t start, uint32_t factor) : constant_(start), factor_(factor) {}
  uint32_t operator()(uint32_t value) {
    value ^= constant_;
    constant_ *= factor_;
    value *= constant_;
    return value ^ (value >> 16U);
  }

 private:
  uint32_t constant_, factor_;
};

uint32_t mix(uint32_t left, uint32_t right) {
  const uint32_t mixed = 0xca01f9ddU * left - 0x4973f715U * right;
  return mixed ^ (mixed >> 16U);
}

/// SeedSequence(seed).generate_state(4, uint64).
std::array<uint64_t, 4> seed_words(uint32_t seed) {
  std::array<uint32_t, kPool> pool{};
  Hash absorb(0x43b0d7e5U, 0x931e8875U);
  for (size_t i = 0; i < kPool; ++i) pool[i] = absorb(i == 0 ? seed : 0);
  for (size_t from = 0; from < kPool; ++from)
    for (size_t to = 0; to < kPool; ++to)
      if (from != to) pool[to] = mix(pool[to], absorb(pool[from]));
  Hash emit(0x8b51f9ddU, 0x58f38dedU);
  std::array<uint64_t, 4> words{};
  for (size_t i = 0; i < 8; ++i)
    words[i / 2] |= static_cast<uint64_t>(emit(pool[i % kPool])) << (i % 2 * 32);
  return words;
}

}  // namespace

NumpyRandom::NumpyRandom(uint64_t seed) {
  const auto words = seed_words(static_cast<uint32_t>(seed));
  const auto wide = [](uint64_t high, uint64_t low) {
    return (static_cast<Wide>(high) << 64U) | low;
  };
  increment_ = (wide(words[2], words[3]) << 1U) | 1U;
  state_ = increment_ + wide(words[0], words[1]);
  next_uint64();
}

uint64_t NumpyRandom::next_uint64() {
  const Wide multiplier = (static_cast<Wide>(0x2360ed051fc65da4U) << 64U) | 0x4385df649fccf645U;
  state_ = state_ * multiplier + increment_;
  const auto folded = static_cast<uint64_t>(state_ >> 64U) ^ static_cast<uint64_t>(state_);
  return std::rotr(folded, static_cast<int>(state_ >> 122U));
}

uint32_t NumpyRandom::next_uint32() {
  if (half_left_) {
    half_left_ = false;
    return half_;
  }
  const uint64_t both = next_uint64();
  half_left_ = true;
  half_ = static_cast<uint32_t>(both >> 32U);
  return static_cast<uint32_t>(both);
}

uint32_t NumpyRandom::below(uint32_t bound) {
  if (bound == 1) return 0;  // draws nothing
  // Lemire 2019: the product's upper half; a lower half below 2^32 mod bound is drawn again.
  uint64_t product = static_cast<uint64_t>(next_uint32()) * bound;
  if (static_cast<uint32_t>(product) < bound) {
    const uint32_t threshold = (0U - bound) % bound;
    while (static_cast<uint32_t>(product) < threshold)
      product = static_cast<uint64_t>(next_uint32()) * bound;
  }
  return static_cast<uint32_t>(product >> 32U);
}

std::vector<uint32_t> NumpyRandom::boolean_words(size_t count) {
  std::vector<uint32_t> words((count + 31) / 32);
  for (auto& word : words) word = next_uint32();
  return words;
}

double NumpyRandom::uniform() { return static_cast<double>(next_uint64() >> 11U) * 0x1.0p-53; }

}  // namespace ablate::statistics
