#pragma once

#include <cstdint>

#include "models/kernel/vector_math.h"

namespace ablate::models::kernel {

// M rows, K input width, N outputs

/// Outputs that stand together in a packed matrix: panel p holds W^T of outputs [32 p, 32 p + 32),
/// zeros behind the last. In float [K][32]; in bfloat16 [K / 2][32][2], K rounded up to even; in
/// 8 bits a scale for each output and [K / 4][32][4], K rounded up to fours.
constexpr int64_t kPanel = 32;
constexpr int64_t panels(int64_t outputs) { return (outputs + kPanel - 1) / kPanel; }

/// to [panels(N)][K][32] from W [N, K].
void pack(const float* weight, int64_t outputs, int64_t width, float* to);
/// to [panels(N)][ceil(K / 2)][32][2], rounded to nearest even.
void pack(const float* weight, int64_t outputs, int64_t width, Bfloat16* to);

/// Bytes of one panel in 8 bits.
int64_t int8_panel_bytes(int64_t width);
/// to panels(N) times that; the largest weight of an output becomes 127.
void pack(const float* weight, int64_t outputs, int64_t width, int8_t* to);

/// output [M, N] = x [M, K] W^T + bias [N] (or null), for panels [begin, end).
template <class T>
struct PackedProduct {
  const float* x;
  const T* weight;  // packed
  const float* bias;
  float* output;
  int64_t rows, width, outputs;
};
void multiply(const PackedProduct<float>& product, int64_t begin, int64_t end);
/// The input is rounded to bfloat16, sums are in float.
void multiply(const PackedProduct<Bfloat16>& product, int64_t begin, int64_t end);
/// Every row of the input is rounded to 8 bits, its largest to 127; sums are exact.
void multiply(const PackedProduct<int8_t>& product, int64_t begin, int64_t end);

}  // namespace ablate::models::kernel
