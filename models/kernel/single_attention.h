#pragma once

#include <cstdint>

#include "models/kernel/vector_math.h"

namespace ablate::models::kernel {

// B batch, H heads, S keys, K head width of queries and keys, W head width of values

/// A [B, H, S, width] array whose last dimension is contiguous.
struct HeadsView {
  const float* data;
  int64_t row, head, position;  // strides
};

/// Scaled dot-product attention (Vaswani et al. 2017, equation 1) of one query a row.
struct SingleAttention {
  HeadsView query, key, value;  // one position in the query
  const bool* real;             // [B, S]: false keys are never attended to; null: all are real
  const float* bias;            // [H, S]: added to the scaled scores; null: nothing
  float* output;                // [B, H, W]
  int64_t heads, keys, d_k, d_v;
};

/// Runs items [begin, end) of B * H. A query without any real key gives zeros.
void attend(const SingleAttention& attention, int64_t begin, int64_t end);

}  // namespace ablate::models::kernel
