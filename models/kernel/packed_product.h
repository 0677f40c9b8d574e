#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/kernel/simd.h"

namespace ablate::models::kernel {

// M rows, K input width, N outputs

/// Outputs per panel of a packed matrix: panel p holds W^T of outputs [32 p, 32 p + 32), padded
/// with zeros.
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

/// Whether the processor multiplies bfloat16 numbers, which all other functions here need.
bool has_bf16();

/// Numbers of a packed matrix [panels(N)][ceil(K / 2)][32][2].
int64_t bf16_count(int64_t outputs, int64_t width);
/// Packs W [N, K], rounded to nearest even.
void pack(const float* weight, int64_t outputs, int64_t width, Bfloat16* to);

/// Rounded rows [M][K, rounded up to even].
std::vector<Bfloat16> bf16_rows(const float* x, int64_t rows, int64_t width);

/// Computes the outputs of panels [begin, end) from rounded rows; sums are in float.
/// REQUIRES: has_bf16().
void multiply(const PackedProduct& product, const std::vector<Bfloat16>& x, const Bfloat16* weight,
              int64_t begin, int64_t end);

}  // namespace ablate::models::kernel
