#include "models/kernel/packed_product.h"

#include "models/kernel/isa.h"

namespace ablate::models::kernel {
namespace {

// V: the type of a register

template <class V>
ABLATE_INLINE void write_pair(const PackedProduct& p, int64_t row, int64_t column, const V& first,
                              const V& second) {
  alignas(64) float all[2 * kCount<V>];
  load<V>(all) = first;
  load<V>(all + kCount<V>) = second;
  write<2 * kCount<V>>(p, row, column, all);
}

/// M rows with two registers of outputs. `weight` begins with the first of them.
template <class V, int M>
ABLATE_INLINE void tile(const PackedProduct& p, const float* x, const float* weight, int64_t row,
                        int64_t column) {
  x += row * p.width;
  V sums[M][2] = {};
  for (int64_t k = 0; k < p.width; ++k) {
    const V first = load<V>(weight + k * kPanel);
    const V second = load<V>(weight + k * kPanel + kCount<V>);
    for (int i = 0; i < M; ++i) {
      sums[i][0] += x[i * p.width + k] * first;
      sums[i][1] += x[i * p.width + k] * second;
    }
  }
  for (int i = 0; i < M; ++i) write_pair(p, row + i, column, sums[i][0], sums[i][1]);
}

/// One row, in four sums that do not wait for each other.
template <class V>
ABLATE_INLINE void single(const PackedProduct& p, const float* x, const float* weight, int64_t row,
                          int64_t column) {
  x += row * p.width;
  V sums[4][2] = {};
  int64_t k = 0;
  for (; k + 4 <= p.width; k += 4)
    for (int j = 0; j < 4; ++j) {
      sums[j][0] += x[k + j] * load<V>(weight + (k + j) * kPanel);
      sums[j][1] += x[k + j] * load<V>(weight + (k + j) * kPanel + kCount<V>);
    }
  for (; k < p.width; ++k) {
    sums[0][0] += x[k] * load<V>(weight + k * kPanel);
    sums[0][1] += x[k] * load<V>(weight + k * kPanel + kCount<V>);
  }
  write_pair(p, row, column, (sums[0][0] + sums[1][0]) + (sums[2][0] + sums[3][0]),
             (sums[0][1] + sums[1][1]) + (sums[2][1] + sums[3][1]));
}

/// In tiles of M rows, whose sums with their weights and inputs fill the registers.
template <class V, int M>
ABLATE_INLINE void multiply_panel(const PackedProduct& p, const float* x, const float* weight,
                                  int64_t panel) {
  weight += panel * p.width * kPanel;
  for (int64_t n = 0; n < kPanel; n += 2 * kCount<V>) {
    const int64_t column = panel * kPanel + n;
    int64_t row = 0;
    for (; row + M <= p.rows; row += M) tile<V, M>(p, x, weight + n, row, column);
    for (; row + 4 <= p.rows; row += 4) tile<V, 4>(p, x, weight + n, row, column);
    for (; row < p.rows; ++row) single<V>(p, x, weight + n, row, column);
  }
}

__attribute__((target("arch=x86-64-v4"))) void multiply_avx512(const PackedProduct& p,
                                                               const float* x, const float* weight,
                                                               int64_t panel) {
  multiply_panel<f32x16, 12>(p, x, weight, panel);
}
__attribute__((target("arch=x86-64-v3"))) void multiply_avx2(const PackedProduct& p, const float* x,
                                                             const float* weight, int64_t panel) {
  multiply_panel<f32x8, 6>(p, x, weight, panel);
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
  const auto multiply_panel = isa() == Isa::avx512 ? multiply_avx512 : multiply_avx2;
  for (int64_t panel = begin; panel < end; ++panel) multiply_panel(product, x, weight, panel);
}

}  // namespace ablate::models::kernel
