#pragma once

#include <span>

#include "data/corpus.h"
#include "data/encoded_example.h"
#include "data/text_encoder.h"

namespace ablate::data {

/// How running text is cut into blocks.
struct Chunking {
  int64_t block;        // tokens predicted of each block
  bool masked = false;  // for masked language modelling
  int64_t offset = 0;   // tokens predicted of the first block, where it is shorter than the others
};

/// Consecutive ids of a running text.
using Block = std::span<const int32_t>;

/// The ids of texts, the targets of `texts`, one after the other, each closed by the end token.
std::vector<int32_t> concatenate(std::span<const Example> texts, const TextEncoder& encode);

/// Cuts running text into blocks that together predict every id but the first once; the first id of
/// a block is the last of the block before. Masked blocks hold every id once. The last block may be
/// shorter.
std::vector<Block> cut(std::span<const int32_t> ids, const Chunking& chunking);

/// A block as an example: its first id is the prompt of the others; of a masked block the ids
/// behind the start token are source and target alike.
EncodedExample example_of(Block block, bool masked);

/// Every block of `ids` as an example.
std::vector<EncodedExample> chunk(std::span<const int32_t> ids, const Chunking& chunking);

}  // namespace ablate::data
