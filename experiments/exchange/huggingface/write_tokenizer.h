#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "data/text_encoder.h"
#include "experiments/exchange/format/name_map.h"

namespace ablate::exchange {

/// What a tokenizer's files depend on besides the tokenizers.
struct TokenizerForm {
  TokenizerWords words;
  std::vector<int32_t> order;     // our id of each of the files' tokens
  std::optional<int64_t> length;  // of a text, the longest that the model is for
};

/// Writes the tokenizer's files as a family of Transformers has them, with the ids of the file:
/// Marian's source.spm, target.spm and vocab.json, for the others tokenizer.json, beside the
/// SentencePiece model if it is one; and tokenizer_config.json. Throws UsageError if the family has
/// no form for the tokenizer.
void write_tokenizer(const std::filesystem::path& folder, const data::Tokenizers& tokenizers,
                     const TokenizerForm& form);

}  // namespace ablate::exchange
