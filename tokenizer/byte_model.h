#pragma once

#include <string>

namespace ablate::tokenizer {

/// A serialised SentencePiece model that learns nothing: behind the special tokens (and `<mask>`
/// where wanted) stand the 256 bytes, by which it writes all text unchanged (ByT5, Xue et al.
/// 2022). Decoded bytes that are no UTF-8 become U+FFFD.
std::string byte_model(bool mask);

}  // namespace ablate::tokenizer
