#include "models/kernel/packed_product.h"

#include <immintrin.h>

#include <cstring>

#include "models/kernel/isa.h"

namespace ablate::models::kernel {
namespace {

// L: numbers of a register

template <int L>
ABLATE_INLINE void write_pair(const PackedProduct& p, int64_t row, int64_t column,
                              const Register<L>& first, const Register<L>& second) {
  alignas(64) float all[2 * L];
  load<L>(all) = first;
  load<L>(all + L) = second;
  write<2 * L>(p, row, column, all);
}

/// M rows with two registers of outputs. `weight` begins with the first of them.
template <int L, int M>
ABLATE_INLINE void tile(const PackedProduct& p, const float* x, const float* weight, int64_t row,
                        int64_t column) {
  x += row * p.width;
  Register<L> sums[M][2] = {};
  for (int64_t k = 0; k < p.width; ++k) {
    const Register<L> first = load<L>(weight + k * kPanel);
    const Register<L> second = load<L>(weight + k * kPanel + L);
    for (int i = 0; i < M; ++i) {
      sums[i][0] += x[i * p.width + k] * first;
      sums[i][1] += x[i * p.width + k] * second;
    }
  }
  for (int i = 0; i < M; ++i) write_pair<L>(p, row + i, column, sums[i][0], sums[i][1]);
}

/// One row, in four sums that do not wait for each other.
template <int L>
ABLATE_INLINE void single(const PackedProduct& p, const float* x, const float* weight, int64_t row,
                          int64_t column) {
  x += row * p.width;
  Register<L> sums[4][2] = {};
  int64_t k = 0;
  for (; k + 4 <= p.width; k += 4)
    for (int j = 0; j < 4; ++j) {
      sums[j][0] += x[k + j] * load<L>(weight + (k + j) * kPanel);
      sums[j][1] += x[k + j] * load<L>(weight + (k + j) * kPanel + L);
    }
  for (; k < p.width; ++k) {
    sums[0][0] += x[k] * load<L>(weight + k * kPanel);
    sums[0][1] += x[k] * load<L>(weight + k * kPanel + L);
  }
  write_pair<L>(p, row, column, (sums[0][0] + sums[1][0]) + (sums[2][0] + sums[3][0]),
                (sums[0][1] + sums[1][1]) + (sums[2][1] + sums[3][1]));
}

/// Panels [begin, end) in tiles of M rows, whose sums with their weights and inputs fill the
/// registers.
template <int L, int M>
ABLATE_INLINE void multiply_panels(const PackedProduct& p, const float* x, const float* weight,
                                   int64_t begin, int64_t end) {
  for (int64_t n = begin * kPanel; n < end * kPanel; n += 2 * L) {
    const float* first = weight + n / kPanel * kPanel * p.width + n % kPanel;
    int64_t row = 0;
    for (; row + M <= p.rows; row += M) tile<L, M>(p, x, first, row, n);
    for (; row + 4 <= p.rows; row += 4) tile<L, 4>(p, x, first, row, n);
    for (; row < p.rows; ++row) single<L>(p, x, first, row, n);
  }
}

}  // namespace

void pack(const float* weight, int64_t outputs, int64_t width, float* to) {
  for (int64_t p = 0; p < panels(outputs); ++p)
    for (int64_t k = 0; k < width; ++k)
      for (int64_t n = 0; n < kPanel; ++n) {
        const int64_t output = p * kPanel + n;
        *to++ = output < outputs ? weight[output * width + k] : 0.0F;
      }
}

void multiply(const PackedProduct& product, const float* x, const float* weight, int64_t begin,
              int64_t end) {
  if (isa() == Isa::avx512)
    on_avx512<multiply_panels<16, 12>>(product, x, weight, begin, end);
  else
    on_avx2<multiply_panels<8, 6>>(product, x, weight, begin, end);
}

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
