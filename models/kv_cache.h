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
  /// Writes positions of every sequence behind those of the only block, whose tensors are parts of
  /// `room`, and returns all of them, row b being sequence b's. What is there is copied only where
  /// rows change or the room ends, which then doubles. REQUIRES: the cache began empty, every
  /// position came this way, and no copy of the cache is in use.
  const Block& extend(const Block& next);
  /// Joins all blocks along dimension 2, row b being sequence b's, and returns the one that is
  /// left.
  const Block& merge();
  /// The only block with row b being sequence b's. The gathered rows are kept until `beam_index` is
  /// another tensor.
  const Block& gathered();
  /// Sequence i becomes what sequence order[i] was. // [B']
  void reorder(const torch::Tensor& order);

  /// Keys and values beside each other of which the block is a part, once `extend` was called.
  torch::Tensor room;  // [M, G, at least S, K + W]
  /// What `gathered` keeps, and the beam_index by which it gathered.
  Block gathered_block;
  torch::Tensor gathered_by;
};

}  // namespace ablate::models
