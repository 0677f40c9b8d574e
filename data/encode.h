#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/corpus.h"
#include "tokenizer/tokenizer.h"

namespace ablate::data {

/// Ids that a model reads and writes. Both sides of a pair end with the end mark; a sequence that
/// only a decoder reads has no source.
struct EncodedExample {
  std::vector<int32_t> source, target;
  int64_t given = 0;  // first ids of `target` that are not to be predicted
};

/// One tokenizer per side; the same model where it is joint.
struct Tokenizers {
  tokenizer::Tokenizer source, target;
};

struct EncodedSet {
  std::vector<EncodedExample> examples;
  int64_t cut_sources = 0, cut_targets = 0;  // sides that were longer than the limit
};

/// A tokenizer for the names of classes, the targets of `train`, each a piece of its own.
tokenizer::Tokenizer train_label_tokenizer(std::span<const Example> train);

Tokenizers train_tokenizers(const tokenizer::TokenizerOptions& options,
                            std::span<const Example> train);

/// Keeps the left `max_length` pieces of a side, its end mark included.
EncodedSet encode(std::span<const Example> examples, const Tokenizers& tokenizers,
                  int64_t max_length);

/// Every source put in front of its target, as one sequence whose target alone is predicted.
EncodedSet as_sequences(EncodedSet pairs);

/// The texts after the start mark, each with the one id of its class as target.
EncodedSet encode_labelled(std::span<const Example> examples, const Tokenizers& tokenizers,
                           int64_t max_length);

/// Blocks for masked language modelling: `block` ids after the start mark, as source and target
/// alike. Texts follow each other as in `pack`.
EncodedSet pack_for_masking(std::span<const Example> texts, const tokenizer::Tokenizer& tokenizer,
                            int64_t block);

/// The texts' ids one after the other, each text closed by the end mark, in blocks of `block`
/// predicted ids; the first id of a block is the last of the one before. Nothing is left out: the
/// last block may be shorter.
EncodedSet pack(std::span<const Example> texts, const tokenizer::Tokenizer& tokenizer,
                int64_t block);

}  // namespace ablate::data
