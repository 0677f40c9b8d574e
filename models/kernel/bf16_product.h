#pragma once

#include <vector>

#include "models/kernel/packed_product.h"
#include "models/kernel/simd.h"

namespace ablate::models::kernel {

/// Whether the processor multiplies bfloat16 numbers, without which nothing else here is of use.
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
