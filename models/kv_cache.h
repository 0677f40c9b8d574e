#pragma once

#include <array>
#include <vector>

#include "models/libtorch.h"

namespace ablate::models {

// B sequences, M rows of a block

/// What decoding keeps of earlier positions, of a mixer's own or of a memory. Rows come, go and
/// change places without copying: only `beam_index` follows them.
struct KVCache {
  /// Keys [M, G, S, K] and values [M, G, S, W] of some positions, or whatever else a mixer keeps of
  /// all of them, row by row.
  using Block = std::array<torch::Tensor, 2>;

  std::vector<Block> blocks;
  torch::Tensor beam_index;  // row of each block that each sequence reads; undefined: its own
                             // // [B, blocks]

  /// Adds positions of every sequence as a block of their own.
  void append(Block next);
  /// Joins all blocks along dimension 2, row b being sequence b's, and returns the one that is
  /// left.
  const Block& merge();
  /// The only block with row b being sequence b's. The gathered rows are kept until `beam_index` is
  /// another tensor.
  const Block& gathered();
  /// Sequence i becomes what sequence order[i] was. // [B']
  void reorder(const torch::Tensor& order);

  /// What `gathered` keeps, and the beam_index by which it gathered.
  Block gathered_block;
  torch::Tensor gathered_by;
};

}  // namespace ablate::models
