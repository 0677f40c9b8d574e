#include "models/kernel/packed_product.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ablate::models::kernel {
namespace {

using Lanes = float __attribute__((vector_size(64), aligned(4), may_alias));
constexpr int64_t kLanes = 16;

ABLATE_INLINE const Lanes& lanes(const float* x) { return *reinterpret_cast<const Lanes*>(x); }
ABLATE_INLINE Lanes& lanes(float* x) { return *reinterpret_cast<Lanes*>(x); }

/// Writes the first `columns` of 32 sums, the bias added.
ABLATE_INLINE void write(const float* sums, const float* bias, int64_t columns, float* to) {
  if (bias == nullptr) {
    for (int64_t n = 0; n < columns; ++n) to[n] = sums[n];
  } else {
    for (int64_t n = 0; n < columns; ++n) to[n] = sums[n] + bias[n];
  }
}

/// M rows of x with one panel.
template <int M>
ABLATE_INLINE void tile(const PackedProduct<float>& p, int64_t row, int64_t panel) {
  const float* weight = p.weight + panel * p.width * kPanel;
  const float* x = p.x + row * p.width;
  Lanes sums[M][2] = {};
  for (int64_t k = 0; k < p.width; ++k) {
    const Lanes first = lanes(weight + k * kPanel), second = lanes(weight + k * kPanel + kLanes);
    for (int i = 0; i < M; ++i) {
      sums[i][0] += x[i * p.width + k] * first;
      sums[i][1] += x[i * p.width + k] * second;
    }
  }
  const int64_t column = panel * kPanel;
  const int64_t columns = std::min(kPanel, p.outputs - column);
  for (int i = 0; i < M; ++i) {
    alignas(64) float all[kPanel];
    lanes(all) = sums[i][0];
    lanes(all + kLanes) = sums[i][1];
    write(all, p.bias == nullptr ? nullptr : p.bias + column, columns,
          p.output + (row + i) * p.outputs + column);
  }
}

/// One row with one panel: four chains of sums, for a single one would wait for itself.
ABLATE_INLINE void single(const PackedProduct<float>& p, int64_t row, int64_t panel) {
  const float* weight = p.weight + panel * p.width * kPanel;
  const float* x = p.x + row * p.width;
  Lanes sums[4][2] = {};
  int64_t k = 0;
  for (; k + 4 <= p.width; k += 4)
    for (int j = 0; j < 4; ++j) {
      sums[j][0] += x[k + j] * lanes(weight + (k + j) * kPanel);
      sums[j][1] += x[k + j] * lanes(weight + (k + j) * kPanel + kLanes);
    }
  for (; k < p.width; ++k) {
    sums[0][0] += x[k] * lanes(weight + k * kPanel);
    sums[0][1] += x[k] * lanes(weight + k * kPanel + kLanes);
  }
  alignas(64) float all[kPanel];
  lanes(all) = (sums[0][0] + sums[1][0]) + (sums[2][0] + sums[3][0]);
  lanes(all + kLanes) = (sums[0][1] + sums[1][1]) + (sums[2][1] + sums[3][1]);
  const int64_t column = panel * kPanel;
  write(all, p.bias == nullptr ? nullptr : p.bias + column, std::min(kPanel, p.outputs - column),
        p.output + row * p.outputs + column);
}

ABLATE_CLONES void multiply_panel(const PackedProduct<float>& p, int64_t panel) {
  int64_t row = 0;
  for (; row + 12 <= p.rows; row += 12) tile<12>(p, row, panel);
  for (; row + 4 <= p.rows; row += 4) tile<4>(p, row, panel);
  for (; row < p.rows; ++row) single(p, row, panel);
}

int64_t pairs(int64_t width) { return (width + 1) / 2; }

/// Any processor: the weights are widened on the way.
ABLATE_CLONES void multiply_wide(const PackedProduct<Bfloat16>& p, const Bfloat16* x,
                                 int64_t panel) {
  const Bfloat16* weight = p.weight + panel * pairs(p.width) * kPanel * 2;
  const int64_t column = panel * kPanel, columns = std::min(kPanel, p.outputs - column);
  for (int64_t row = 0; row < p.rows; ++row) {
    alignas(64) float sums[kPanel] = {};
    for (int64_t k = 0; k < 2 * pairs(p.width); ++k)
      for (int64_t n = 0; n < kPanel; ++n)
        sums[n] +=
            load(x[row * 2 * pairs(p.width) + k]) * load(weight[(k / 2 * kPanel + n) * 2 + k % 2]);
    write(sums, p.bias == nullptr ? nullptr : p.bias + column, columns,
          p.output + row * p.outputs + column);
  }
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define ABLATE_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

template <int M>
ABLATE_BF16 inline void bf16_tile(const PackedProduct<Bfloat16>& p, const Bfloat16* x, int64_t row,
                                  int64_t panel) {
  const int64_t depth = pairs(p.width);
  const auto* weight = reinterpret_cast<const uint32_t*>(p.weight) + panel * depth * kPanel;
  const auto* from = reinterpret_cast<const int32_t*>(x) + row * depth;
  __m512 sums[M][2];
  for (int i = 0; i < M; ++i) sums[i][0] = sums[i][1] = _mm512_setzero_ps();
  for (int64_t k = 0; k < depth; ++k) {
    const auto first = (__m512bh)_mm512_loadu_si512(weight + k * kPanel);
    const auto second = (__m512bh)_mm512_loadu_si512(weight + k * kPanel + kLanes);
    for (int i = 0; i < M; ++i) {
      const auto pair = (__m512bh)_mm512_set1_epi32(from[i * depth + k]);
      sums[i][0] = _mm512_dpbf16_ps(sums[i][0], pair, first);
      sums[i][1] = _mm512_dpbf16_ps(sums[i][1], pair, second);
    }
  }
  const int64_t column = panel * kPanel, columns = std::min(kPanel, p.outputs - column);
  for (int i = 0; i < M; ++i) {
    alignas(64) float all[kPanel];
    _mm512_store_ps(all, sums[i][0]);
    _mm512_store_ps(all + kLanes, sums[i][1]);
    float* to = p.output + (row + i) * p.outputs + column;
    for (int64_t n = 0; n < columns; ++n)
      to[n] = all[n] + (p.bias == nullptr ? 0.0F : p.bias[column + n]);
  }
}

ABLATE_BF16 void multiply_bf16(const PackedProduct<Bfloat16>& p, const Bfloat16* x, int64_t panel) {
  int64_t row = 0;
  for (; row + 12 <= p.rows; row += 12) bf16_tile<12>(p, x, row, panel);
  for (; row + 4 <= p.rows; row += 4) bf16_tile<4>(p, x, row, panel);
  for (; row < p.rows; ++row) bf16_tile<1>(p, x, row, panel);
}

bool has_bf16() { return __builtin_cpu_supports("avx512bf16") != 0; }
#else
void multiply_bf16(const PackedProduct<Bfloat16>& p, const Bfloat16* x, int64_t panel) {
  multiply_wide(p, x, panel);
}
bool has_bf16() { return false; }
#endif

}  // namespace

void pack(const float* weight, int64_t outputs, int64_t width, float* to) {
  for (int64_t p = 0; p < panels(outputs); ++p)
    for (int64_t k = 0; k < width; ++k)
      for (int64_t n = 0; n < kPanel; ++n) {
        const int64_t output = p * kPanel + n;
        *to++ = output < outputs ? weight[output * width + k] : 0.0F;
      }
}

void pack(const float* weight, int64_t outputs, int64_t width, Bfloat16* to) {
  for (int64_t p = 0; p < panels(outputs); ++p)
    for (int64_t k = 0; k < 2 * pairs(width); k += 2)
      for (int64_t n = 0; n < kPanel; ++n)
        for (int64_t half = 0; half < 2; ++half) {
          const int64_t output = p * kPanel + n, column = k + half;
          store(*to++, output < outputs && column < width ? weight[output * width + column] : 0.0F);
        }
}

void multiply(const PackedProduct<float>& product, int64_t begin, int64_t end) {
  for (int64_t panel = begin; panel < end; ++panel) multiply_panel(product, panel);
}

void multiply(const PackedProduct<Bfloat16>& product, int64_t begin, int64_t end) {
  const int64_t wide = 2 * pairs(product.width);
  std::vector<Bfloat16> x(static_cast<size_t>(product.rows * wide));
  for (int64_t row = 0; row < product.rows; ++row)
    for (int64_t k = 0; k < product.width; ++k)
      store(x[static_cast<size_t>(row * wide + k)], product.x[row * product.width + k]);
  static const bool quick = has_bf16();
  for (int64_t panel = begin; panel < end; ++panel)
    quick ? multiply_bf16(product, x.data(), panel) : multiply_wide(product, x.data(), panel);
}

}  // namespace ablate::models::kernel
