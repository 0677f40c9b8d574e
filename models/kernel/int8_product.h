#pragma once

#include <vector>

#include "models/kernel/packed_product.h"

namespace ablate::models::kernel {

/// Bytes of a packed matrix: for every panel a scale of each output, and [ceil(K / 4)][32][4].
int64_t int8_bytes(int64_t outputs, int64_t width);
/// Packs W [N, K]; the largest weight of an output becomes 127. An output with a weight that is not
/// finite gives NaN.
void pack(const float* weight, int64_t outputs, int64_t width, int8_t* to);

/// Rows rounded to 8 bits, each with a scale of its own, by which its largest becomes 127. The
/// scale of a row with a number that is not finite is NaN.
struct Int8Rows {
  std::vector<uint8_t> values;  // [M][K, rounded up to fours], 128 added since they take no sign
  std::vector<float> scales;    // [M]
};
Int8Rows int8_rows(const float* x, int64_t rows, int64_t width);

/// Computes the outputs of panels [begin, end) from rounded rows; sums are exact. REQUIRES: AVX2.
void multiply(const PackedProduct& product, const Int8Rows& x, const int8_t* weight, int64_t begin,
              int64_t end);

}  // namespace ablate::models::kernel
