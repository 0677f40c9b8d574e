#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ablate::tokenizer {

/// Special tokens of the file around a text, as `tokenizers` adds them if nothing else is said.
struct Frame {
  std::optional<int32_t> before, after;
};

/// A SentencePiece model as tokenizer.json: the same ids for a text, and the same text for ids.
/// Exceptions: where the normalisation table has a rule for several characters, `tokenizers`
/// applies it to whole graphemes alone; and of a run of words that a word model does not know, each
/// is <unk>. Throws TokenizerError, naming it, if the model has something that tokenizer.json has
/// no word for, and as read_piece_model().
std::string to_tokenizer_json(std::string_view sentence_piece, const Frame& frame);

/// The tokenizer.json with these tokens of its own around a text, and no others. Throws
/// TokenizerError if the file is not usable.
std::string with_frame(const std::string& tokenizer_json, const Frame& frame);

}  // namespace ablate::tokenizer
