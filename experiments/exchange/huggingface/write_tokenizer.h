#pragma once

#include <filesystem>
#include <string>

#include "data/text_encoder.h"

namespace ablate::exchange {

/// Writes the tokenizer's files as a family of Transformers has them, with the ids of the file:
/// Marian's source.spm, target.spm and vocab.json, for the others tokenizer.json, beside the
/// SentencePiece model if it is one; and tokenizer_config.json. Throws UsageError if the family has
/// no form for the tokenizer. `order`: our id of each of the files' tokens.
void write_tokenizer(const std::filesystem::path& folder, const std::string& family,
                     const data::Tokenizers& tokenizers, const std::vector<int32_t>& order);

}  // namespace ablate::exchange
