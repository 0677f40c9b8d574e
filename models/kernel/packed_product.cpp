#include "models/kernel/packed_product.h"

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

}  // namespace ablate::models::kernel
