#pragma once

#include <optional>
#include <span>

#include "data/corpus.h"
#include "data/labels.h"
#include "tokenizer/tokenizer.h"

namespace ablate::data {

/// One tokenizer per side; the same model where it is joint.
struct Tokenizers {
  tokenizer::Tokenizer source, target;
  std::optional<Labels> labels = {};  // what a label head predicts; both sides are then the text's

  /// What a model can predict at a position.
  int64_t outputs() const { return labels ? labels->count() : target.vocabulary_size(); }
};

/// Trains a joint tokenizer on both sides of `train`, or one for each side. Throws TokenizerError.
Tokenizers train_tokenizers(const tokenizer::TokenizerOptions& options,
                            std::span<const Example> train);

/// Trains a tokenizer on the sources of `train`, whose targets are classes. Throws TokenizerError.
Tokenizers train_tokenizers_of_labelled(const tokenizer::TokenizerOptions& options,
                                        std::span<const Example> train);

}  // namespace ablate::data
