#pragma once

#include <cstdint>
#include <span>

namespace ablate::models::kernel {

// B batch, M rows of a memory, H heads, S keys, K head width of queries and keys, W head width of
// values

/// A [rows, heads, positions, width] array whose last dimension is contiguous.
struct HeadsView {
  const float* data;
  int64_t row, head, position;  // strides
};

/// Keys and values of some positions.
struct KeyValueBlock {
  HeadsView key, value;
  int64_t positions;
};

/// Scaled dot-product attention (Vaswani et al. 2017, equation 1) of one query a row, over the
/// positions of all blocks in turn.
struct SingleAttention {
  HeadsView query;  // one position
  std::span<const KeyValueBlock> blocks;
  const int64_t* rows;       // [B, blocks]: which row of a block a query reads; null: its own
  const bool* padding_mask;  // [M, S] of an only block, true: may be attended to; null: all may
  const float* bias;         // [H, S]: added to the scaled scores; null: no bias
  float* output;             // [B, H, W]
  int64_t heads;
  int64_t group;  // heads that share keys and values
  int64_t keys, d_k, d_v;
};

/// Runs items [begin, end) of B * H. The output of a query that may attend to no key is zero.
void attend(const SingleAttention& attention, int64_t begin, int64_t end);

}  // namespace ablate::models::kernel
