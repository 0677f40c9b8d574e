#pragma once

#include <array>
#include <vector>

#include "models/libtorch.h"
#include "models/named_tensors.h"

namespace ablate::models {

// B sequences, M rows of a block

/// Keys and values of earlier positions or of the encoder's output. Sequences are dropped, repeated
/// and reordered without copying: only `beam_index` changes.
struct KVCache {
  /// Keys [M, G, S, K] and values [M, G, S, W] of some positions, or another mixer's state for each
  /// sequence.
  using Block = std::array<torch::Tensor, 2>;

  std::vector<Block> blocks;
  torch::Tensor beam_index;  // row of each block that each sequence reads; undefined: its own
                             // // [B, blocks]
  /// The further state of parts of the sub-layer, each under its own name: tensors with a
  /// row for each sequence, which reordering copies.
  NamedTensors state;

  /// Adds positions of every sequence as a new block.
  void append_block(Block next);
  /// Writes positions of every sequence behind those of the only block, whose tensors are views of
  /// `room`, and returns that block, row b being sequence b's. Earlier positions are copied only if
  /// rows were reordered or the room is full, which then doubles. REQUIRES: the cache began empty,
  /// all positions were appended by this method, and no copy of the cache is in use.
  const Block& append_in_place(const Block& next);
  /// Concatenates all blocks along dimension 2, row b being sequence b's, and returns the result.
  const Block& concatenate();
  /// Forgets the positions behind the first `count` of every sequence.
  void keep_first(int64_t count);
  /// The only block, row b being sequence b's. The result is cached until `beam_index` is another
  /// tensor.
  const Block& reordered();
  /// Sequence i becomes what sequence order[i] was. // [B']
  void reorder(const torch::Tensor& order);

  /// The buffer of keys and values, side by side, that the block is a view of after
  /// `append_in_place`.
  torch::Tensor room;  // [M, G, at least S, K + W]
  /// The cached result of `reordered` and the beam_index that it belongs to.
  Block reordered_block;
  torch::Tensor reordered_by;
};

}  // namespace ablate::models
