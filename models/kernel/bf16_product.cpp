#include "models/kernel/bf16_product.h"

#include <immintrin.h>

#include <cstring>

#include "models/kernel/isa.h"

namespace ablate::models::kernel {
namespace {

int64_t pairs(int64_t width) { return (width + 1) / 2; }

#define ABLATE_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

/// Two neighbouring numbers of a row, in every lane.
ABLATE_BF16 inline __m512bh pair_of(const Bfloat16* x) {
  int32_t pair;
  std::memcpy(&pair, x, sizeof pair);
  return (__m512bh)_mm512_set1_epi32(pair);
}

template <int M>
ABLATE_BF16 inline void bf16_tile(const PackedProduct& p, const Bfloat16* x, const Bfloat16* weight,
                                  int64_t row, int64_t panel) {
  const int64_t depth = pairs(p.width);
  weight += panel * depth * kPanel * 2;
  x += row * depth * 2;
  __m512 sums[M][2];
  for (int i = 0; i < M; ++i) sums[i][0] = sums[i][1] = _mm512_setzero_ps();
  for (int64_t k = 0; k < depth; ++k) {
    const auto first = (__m512bh)_mm512_loadu_si512(weight + k * kPanel * 2);
    const auto second = (__m512bh)_mm512_loadu_si512(weight + (k * kPanel + kLanes) * 2);
    for (int i = 0; i < M; ++i) {
      const auto pair = pair_of(x + (i * depth + k) * 2);
      sums[i][0] = _mm512_dpbf16_ps(sums[i][0], pair, first);
      sums[i][1] = _mm512_dpbf16_ps(sums[i][1], pair, second);
    }
  }
  for (int i = 0; i < M; ++i) {
    alignas(64) float all[kPanel];
    _mm512_store_ps(all, sums[i][0]);
    _mm512_store_ps(all + kLanes, sums[i][1]);
    write<kPanel>(p, row + i, panel * kPanel, all);
  }
}

ABLATE_BF16 void multiply_bf16(const PackedProduct& p, const Bfloat16* x, const Bfloat16* weight,
                               int64_t panel) {
  int64_t row = 0;
  for (; row + 12 <= p.rows; row += 12) bf16_tile<12>(p, x, weight, row, panel);
  for (; row + 4 <= p.rows; row += 4) bf16_tile<4>(p, x, weight, row, panel);
  for (; row < p.rows; ++row) bf16_tile<1>(p, x, weight, row, panel);
}

}  // namespace

int64_t bf16_count(int64_t outputs, int64_t width) {
  return panels(outputs) * pairs(width) * kPanel * 2;
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

std::vector<Bfloat16> bf16_rows(const float* x, int64_t rows, int64_t width) {
  const int64_t even = 2 * pairs(width);
  std::vector<Bfloat16> rounded(static_cast<size_t>(rows * even));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t k = 0; k < width; ++k)
      store(rounded[static_cast<size_t>(row * even + k)], x[row * width + k]);
  return rounded;
}

bool has_bf16() { return isa() == Isa::avx512 && __builtin_cpu_supports("avx512bf16") != 0; }

void multiply(const PackedProduct& product, const std::vector<Bfloat16>& x, const Bfloat16* weight,
              int64_t begin, int64_t end) {
  for (int64_t panel = begin; panel < end; ++panel) multiply_bf16(product, x.data(), weight, panel);
}

}  // namespace ablate::models::kernel
