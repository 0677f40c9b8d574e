#pragma once

#include <bit>
#include <cstdint>

#include "models/kernel/bfloat16.h"

// Torch-free building blocks of the CPU kernels, in GCC's vector extensions for x86-64. Loops over
// the scalar functions are vectorised by the compiler, once for each instruction set (isa.h).

#define ABLATE_INLINE inline __attribute__((always_inline))

namespace ablate::models::kernel {

#ifdef __cpp_lib_bit_cast
using std::bit_cast;
#else  // GCC 10
template <class To, class From>
ABLATE_INLINE To bit_cast(From from) {
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}
#endif

/// L numbers, in one register or in several narrower ones.
template <int L>
struct RegisterOf;
template <>
struct RegisterOf<16> {
  using Type = float __attribute__((vector_size(64), aligned(4), may_alias));
};
template <>
struct RegisterOf<8> {
  using Type = float __attribute__((vector_size(32), aligned(4), may_alias));
};
template <>
struct RegisterOf<4> {
  using Type = float __attribute__((vector_size(16), aligned(4), may_alias));
};
template <int L>
using Register = typename RegisterOf<L>::Type;
using f32x16 = Register<16>;
using i32x16 = int32_t __attribute__((vector_size(64)));
constexpr int64_t kLanes = 16;

template <int L>
ABLATE_INLINE const Register<L>& load(const float* x) {
  return *reinterpret_cast<const Register<L>*>(x);
}
template <int L>
ABLATE_INLINE Register<L>& load(float* x) {
  return *reinterpret_cast<Register<L>*>(x);
}
ABLATE_INLINE const f32x16& lanes(const float* x) { return load<16>(x); }
ABLATE_INLINE f32x16& lanes(float* x) { return load<16>(x); }

ABLATE_INLINE float load(float x) { return x; }
ABLATE_INLINE float load(Bfloat16 x) {
  return bit_cast<float>(static_cast<uint32_t>(x.bits) << 16);
}

ABLATE_INLINE void store(float& to, float x) { to = x; }
/// Rounds to nearest even; NaN stays NaN.
ABLATE_INLINE void store(Bfloat16& to, float x) {
  const auto bits = bit_cast<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  to.bits = static_cast<uint16_t>(nan ? 0x7fc0U : rounded);
}

/// A float below 2^22 in size is rounded to a whole number, nearest even, when this is added to it;
/// the sum's bits are then those of this and the whole number.
constexpr float kRounder = 12582912.0F;  // 1.5 * 2^23
constexpr uint32_t kRounderBits = 0x4b400000U;

/// The integer that x was rounded to in `shifted` = x + kRounder; any number if x was NaN.
ABLATE_INLINE uint32_t whole_of(float shifted) {
  return bit_cast<uint32_t>(shifted) - kRounderBits;
}

/// e^x for x <= 0 or small positive x, within 2 units in the last place; 0 below -87; NaN of NaN.
ABLATE_INLINE float exponential(float x) {
  const float clamped = x < -87.0F ? -87.0F : (x > 88.0F ? 88.0F : x);
  const float shifted = clamped * 1.44269504F + kRounder;
  const float whole = shifted - kRounder;
  const float rest = (clamped - whole * 0.693359375F) + whole * 2.12194440e-4F;
  float sum = 1.9875691500e-4F;
  sum = sum * rest + 1.3981999507e-3F;
  sum = sum * rest + 8.3334519073e-3F;
  sum = sum * rest + 4.1665795894e-2F;
  sum = sum * rest + 1.6666665459e-1F;
  sum = sum * rest + 5.0000001201e-1F;
  sum = sum * rest * rest + rest + 1.0F;
  const float power = bit_cast<float>((whole_of(shifted) + 127U) << 23);
  return x < -87.0F ? 0.0F : sum * power;
}

/// Adds the lanes that differ in bit `Size`; a's sums are in the lanes with the bit clear, b's in
/// those with it set.
template <int Size>
ABLATE_INLINE void fold(f32x16& a, const f32x16& b) {
  i32x16 same, other;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int from = (lane & Size) != 0 ? kLanes : 0;
    same[lane] = from + lane;
    other[lane] = from + (lane ^ Size);
  }
  a = __builtin_shuffle(a, b, same) + __builtin_shuffle(a, b, other);
}

/// Lane i of x[0] becomes the sum of all lanes of x[i]; every sum is taken in the same order.
ABLATE_INLINE void horizontal_add(f32x16 (&x)[kLanes]) {
  for (int i = 0; i < 8; ++i) fold<8>(x[i], x[i + 8]);
  for (int i = 0; i < 4; ++i) fold<4>(x[i], x[i + 4]);
  for (int i = 0; i < 2; ++i) fold<2>(x[i], x[i + 2]);
  fold<1>(x[0], x[1]);
}

/// Exchanges the off-diagonal blocks of `Size` of an L x L matrix held in L registers.
template <int L, int Size>
ABLATE_INLINE void exchange(Register<L> (&rows)[L]) {
  decltype(rows[0] < rows[0]) low, high;
  for (int lane = 0; lane < L; ++lane) {
    const bool upper = (lane & Size) != 0;
    low[lane] = upper ? L + lane - Size : lane;
    high[lane] = upper ? L + lane : lane + Size;
  }
  for (int row = 0; row < L; ++row) {
    if ((row & Size) != 0) continue;
    const Register<L> first = rows[row], second = rows[row + Size];
    rows[row] = __builtin_shuffle(first, second, low);
    rows[row + Size] = __builtin_shuffle(first, second, high);
  }
}

template <int L, int Size = 1>
ABLATE_INLINE void transpose(Register<L> (&rows)[L]) {
  exchange<L, Size>(rows);
  if constexpr (2 * Size < L) transpose<L, 2 * Size>(rows);
}

/// Prefetches numbers that are read soon, if the processor cannot predict them.
template <int Locality>
ABLATE_INLINE void prefetch(const float* x, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) __builtin_prefetch(x + i, 0, Locality);
}

}  // namespace ablate::models::kernel
