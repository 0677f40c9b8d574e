#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ablate::statistics {

/// Of whatever is drawn to judge results, so that the same runs are judged alike every time.
inline constexpr uint64_t kResamplingSeed = 1;

/// The generator that numpy.random.default_rng(seed) makes, number for number: PCG64 (O'Neill 2014,
/// XSL-RR 128/64) seeded through SeedSequence. NumPy keeps these streams stable (NEP 19).
class NumpyRandom {
 public:
  /// REQUIRES: seed < 2^32.
  explicit NumpyRandom(uint64_t seed);

  uint64_t next_uint64();

  /// Halves of next_uint64(), the lower one first.
  uint32_t next_uint32();

  /// One of 0 ... bound - 1, as an element of integers(bound, size=...) and choice(bound,
  /// size=...). REQUIRES: 0 < bound < 2^32.
  uint32_t below(uint32_t bound);

  /// integers(2, size=count, dtype=bool), 32 of them in a word from its lowest bit on.
  std::vector<uint32_t> boolean_words(size_t count);

  /// random(): a multiple of 2^-53 in [0, 1).
  double uniform();

 private:
  __extension__ using Wide = unsigned __int128;

  Wide state_ = 0;
  Wide increment_ = 0;
  bool half_left_ = false;
  uint32_t half_ = 0;
};

}  // namespace ablate::statistics
