#pragma once

#include <bit>
#include <cstdint>

// Torch-free building blocks of the CPU kernels. A loop over these is vectorised by the compiler;
// `ABLATE_CLONES` compiles a function once per instruction set and picks one when the program
// starts.

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define ABLATE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ABLATE_CLONES
#endif
#define ABLATE_INLINE inline __attribute__((always_inline))

namespace ablate::models::kernel {

using models::mix;

/// Storage of a bfloat16 number, bit for bit that of c10::BFloat16.
struct Bfloat16 {
  uint16_t bits;
};

ABLATE_INLINE float load(float x) { return x; }
ABLATE_INLINE float load(Bfloat16 x) {
  return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16);
}

ABLATE_INLINE void store(float& to, float x) { to = x; }
/// Rounds to nearest even; NaN stays NaN.
ABLATE_INLINE void store(Bfloat16& to, float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  to.bits = static_cast<uint16_t>(nan ? 0x7fc0U : rounded);
}

/// e^x for x <= 0 or small positive x, within 2 units in the last place; 0 below -87.
ABLATE_INLINE float exponential(float x) {
  const float clamped = x < -87.0F ? -87.0F : (x > 88.0F ? 88.0F : x);
  const float shifted = clamped * 1.44269504F + 12582912.0F;  // 1.5 * 2^23: rounds to an integer
  const float whole = shifted - 12582912.0F;
  const float rest = (clamped - whole * 0.693359375F) + whole * 2.12194440e-4F;
  float sum = 1.9875691500e-4F;
  sum = sum * rest + 1.3981999507e-3F;
  sum = sum * rest + 8.3334519073e-3F;
  sum = sum * rest + 4.1665795894e-2F;
  sum = sum * rest + 1.6666665459e-1F;
  sum = sum * rest + 5.0000001201e-1F;
  sum = sum * rest * rest + rest + 1.0F;
  const int32_t exponent = (static_cast<int32_t>(whole) + 127) << 23;
  return x < -87.0F ? 0.0F : sum * std::bit_cast<float>(exponent);
}

}  // namespace ablate::models::kernel
