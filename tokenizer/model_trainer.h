#pragma once

#include <span>
#include <string>

#include "tokenizer/tokenizer_options.h"

namespace ablate::tokenizer {

/// Learns a SentencePiece model from `lines` and returns it serialised. The same lines give the
/// same bytes, no line is left out for its length, NUL and the library's own mark U+2585 count
/// as spaces. A vocabulary larger than the text supports becomes the largest possible. Throws
/// TokenizerError if the text is empty or the vocabulary has no room for its characters.
std::string train_model(const TokenizerOptions& options, std::span<const std::string> lines);

/// A serialised SentencePiece model without training: the special tokens (with `<mask>` if `mask`)
/// and the 256 bytes, which write all text unchanged (ByT5, Xue et al. 2022). Decoded bytes that
/// are not UTF-8 become U+FFFD.
std::string byte_model(bool mask);

/// A serialised SentencePiece model without training, for ids whose text is not known: the special
/// tokens and the numbers from 0 to count - 1, from the id kFirstNumber on. It reads and writes
/// "15 3 42". REQUIRES: 0 < count <= 1000000.
std::string number_model(int64_t count);
inline constexpr int32_t kFirstNumber = 4;

}  // namespace ablate::tokenizer
