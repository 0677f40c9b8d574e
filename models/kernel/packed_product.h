#pragma once

#include <cstdint>

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

/// Packs W [N, K] as [panels(N)][K][32].
void pack(const float* weight, int64_t outputs, int64_t width, float* to);

/// Computes the outputs of panels [begin, end).
void multiply(const PackedProduct& product, const float* x, const float* weight, int64_t begin,
              int64_t end);

}  // namespace ablate::models::kernel
