#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/corpus.h"
#include "tokenizer/tokenizer.h"

namespace ablate::data {

/// Ids of a pair; both sides end with the end mark.
struct EncodedExample {
  std::vector<int32_t> source, target;
};

/// One tokenizer per side; the same model where it is joint.
struct Tokenizers {
  tokenizer::Tokenizer source, target;
};

struct EncodedSet {
  std::vector<EncodedExample> examples;
  int64_t cut_sources = 0, cut_targets = 0;  // sides that were longer than the limit
};

Tokenizers train_tokenizers(const tokenizer::TokenizerOptions& options,
                            std::span<const Example> train);

/// Keeps the left `max_length` pieces of a side, its end mark included.
EncodedSet encode(std::span<const Example> examples, const Tokenizers& tokenizers,
                  int64_t max_length);

}  // namespace ablate::data
