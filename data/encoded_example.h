#pragma once

#include <cstdint>
#include <vector>

#include "tokenizer/special_ids.h"

namespace ablate::data {

/// What a decoder reads before the first token of every target.
inline constexpr int32_t kStartToken = tokenizer::kBos;

/// Ids that a model reads and writes. Both sides of a pair end with the end token; a sequence that
/// only a decoder reads has no source.
struct EncodedExample {
  std::vector<int32_t> source, target;
  int64_t prompt_length = 0;  // first ids of `target`, which are read and not predicted
};

struct EncodedSet {
  std::vector<EncodedExample> examples;
  int64_t cut_sources = 0, cut_targets = 0;  // sides that were longer than the limit
};

}  // namespace ablate::data
