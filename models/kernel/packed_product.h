#pragma once

#include <algorithm>
#include <cstdint>

#include "models/kernel/simd.h"

namespace ablate::models::kernel {

// M rows, K input width, N outputs

/// Outputs that stand together in a packed matrix: panel p holds W^T of outputs [32 p, 32 p + 32),
/// zeros behind the last.
constexpr int64_t kPanel = 32;
constexpr int64_t panels(int64_t outputs) { return (outputs + kPanel - 1) / kPanel; }

/// output [M, N] = x [M, K] W^T + bias [N].
struct PackedProduct {
  const float* bias;  // or null
  float* output;
  int64_t rows, width, outputs;
};

/// Writes a row's sums of N outputs from `column` on, the bias added; those behind the last output
/// are dropped.
template <int64_t N>
ABLATE_INLINE void write(const PackedProduct& p, int64_t row, int64_t column, const float* sums) {
  const int64_t columns = std::min(N, p.outputs - column);
  float* to = p.output + row * p.outputs + column;
  if (p.bias == nullptr) {
    for (int64_t n = 0; n < columns; ++n) to[n] = sums[n];
  } else {
    for (int64_t n = 0; n < columns; ++n) to[n] = sums[n] + p.bias[column + n];
  }
}

/// Packs W [N, K] as [panels(N)][K][32].
void pack(const float* weight, int64_t outputs, int64_t width, float* to);

/// Computes the outputs of panels [begin, end). REQUIRES: AVX2.
void multiply(const PackedProduct& product, const float* x, const float* weight, int64_t begin,
              int64_t end);

}  // namespace ablate::models::kernel
