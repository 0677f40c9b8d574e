#include "models/kernel/packed_product.h"

namespace ablate::models::kernel {
namespace {

/// M rows of x with one panel.
template <int M>
ABLATE_INLINE void tile(const PackedProduct& p, const float* x, const float* weight, int64_t row,
                        int64_t panel) {
  weight += panel * p.width * kPanel;
  x += row * p.width;
  f32x16 sums[M][2] = {};
  for (int64_t k = 0; k < p.width; ++k) {
    const f32x16 first = lanes(weight + k * kPanel), second = lanes(weight + k * kPanel + kLanes);
    for (int i = 0; i < M; ++i) {
      sums[i][0] += x[i * p.width + k] * first;
      sums[i][1] += x[i * p.width + k] * second;
    }
  }
  for (int i = 0; i < M; ++i) {
    alignas(64) float all[kPanel];
    lanes(all) = sums[i][0];
    lanes(all + kLanes) = sums[i][1];
    write(p, row + i, panel, all);
  }
}

/// One row with one panel, in four sums that do not wait for each other.
ABLATE_INLINE void single(const PackedProduct& p, const float* x, const float* weight, int64_t row,
                          int64_t panel) {
  weight += panel * p.width * kPanel;
  x += row * p.width;
  f32x16 sums[4][2] = {};
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
  write(p, row, panel, all);
}

ABLATE_CLONES void multiply_panel(const PackedProduct& p, const float* x, const float* weight,
                                  int64_t panel) {
  int64_t row = 0;
  for (; row + 12 <= p.rows; row += 12) tile<12>(p, x, weight, row, panel);
  for (; row + 4 <= p.rows; row += 4) tile<4>(p, x, weight, row, panel);
  for (; row < p.rows; ++row) single(p, x, weight, row, panel);
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
  for (int64_t panel = begin; panel < end; ++panel) multiply_panel(product, x, weight, panel);
}

}  // namespace ablate::models::kernel
