#pragma once

#include "models/kernel/simd.h"
#include "models/random.h"

namespace ablate::models::kernel {

/// Rows [begin, end) of a [N, width] problem.
struct Rows {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t width = 0;
};

/// sum = residual + dropout(branch), without the norm when `output` is null;
/// output = (sum - mean) * inverse_deviation * weight + bias, statistics kept for the backward
/// pass.
template <class T>
struct ResidualNorm {
  const T* residual;         // [N, D]
  const T* branch;           // [N, D]
  T* sum;                    // [N, D]
  T* output;                 // [N, D] or null
  float* mean;               // [N]
  float* inverse_deviation;  // [N]
  const float* weight;       // [D]
  const float* bias;         // [D]
  float epsilon;
};

/// Gradients of ResidualNorm. `weight_gradient` and `bias_gradient` are added to.
template <class T>
struct ResidualNormGradient {
  const T* output_gradient;        // [N, D]
  const T* sum;                    // [N, D]
  const float* mean;               // [N]
  const float* inverse_deviation;  // [N]
  const float* weight;             // [D]
  T* residual_gradient;            // [N, D]
  T* branch_gradient;              // [N, D]
  float* weight_gradient;          // [D]
  float* bias_gradient;            // [D]
};

void residual_norm(Rows rows, const DropoutMask& mask, const ResidualNorm<float>& arguments);
void residual_norm(Rows rows, const DropoutMask& mask, const ResidualNorm<Bfloat16>& arguments);
void residual_norm_gradient(Rows rows, const DropoutMask& mask,
                            const ResidualNormGradient<float>& arguments);
void residual_norm_gradient(Rows rows, const DropoutMask& mask,
                            const ResidualNormGradient<Bfloat16>& arguments);

/// output = dropout(input), element by element; its own gradient.
void drop(Rows rows, const DropoutMask& mask, const float* input, float* output);
void drop(Rows rows, const DropoutMask& mask, const Bfloat16* input, Bfloat16* output);

}  // namespace ablate::models::kernel
