#pragma once

#include <span>

#include "data/corpus.h"
#include "tokenizer/tokenizer.h"

namespace ablate::data {

/// One tokenizer per side; the same model where it is joint.
struct Tokenizers {
  tokenizer::Tokenizer source, target;
};

/// Trains a joint tokenizer on both sides of `train`, or one for each side. Throws TokenizerError.
Tokenizers train_tokenizers(const tokenizer::TokenizerOptions& options,
                            std::span<const Example> train);

/// A tokenizer for the names of classes, the targets of `train`, each a token of its own.
tokenizer::Tokenizer train_label_tokenizer(std::span<const Example> train);

}  // namespace ablate::data
