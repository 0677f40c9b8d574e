#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/huggingface/hidden.h"
#include "tokenizer/text/tokenizer_error.h"

namespace ablate::tokenizer::huggingface {

/// A tokenizer.json of Hugging Face: text to ids and back, as its own library `tokenizers` does it.
/// Ids are those of the file. Truncation and padding, which the file may ask for, are left out.
/// Copies share one immutable model; encoding and decoding may run on many threads at once.
class TokenizerJson {
 public:
  /// A token of a text. An unknown one holds its text, as the model reads it. Text that a model
  /// without an unknown token leaves out is one with a negative id.
  struct Token {
    int32_t id;
    std::optional<Hidden::Unknown> hidden = {};
  };

  /// Text cannot spell the tokens with the ids that are `hidden`. Throws TokenizerError with the
  /// place and the reason if the file is malformed or has a part that is not supported.
  explicit TokenizerJson(std::string_view json, const std::vector<int32_t>& hidden = {});

  /// Ids without those of the post-processor. Ill-formed UTF-8 counts as U+FFFD. Throws
  /// TokenizerError if the tokenizer cannot write the text.
  std::vector<int32_t> encode(std::string_view text) const;
  /// The same tokens, and the text that is left out.
  std::vector<Token> tokens(std::string_view text) const;
  /// Ids with those that the post-processor puts around one text, such as [CLS] and [SEP].
  std::vector<int32_t> framed(const std::vector<int32_t>& ids) const;
  /// The text of `ids` without special tokens, or with them; unknown ids are left out.
  std::string decode(std::span<const int32_t> ids, bool specials = false) const;
  /// The same of the tokens of a text, with the text of unknown ones.
  std::string decode(std::span<const Token> tokens, bool specials = false) const;

  /// One more than the largest id.
  int64_t vocabulary_size() const;
  /// None if no token has the id.
  std::optional<std::string> token(int32_t id) const;
  /// What the token stands for in a text, as far as that is valid UTF-8 by itself, or else the
  /// token; empty if no token has the id.
  std::string spelling(const Token& token) const;
  /// The bytes of a text that the model reads as `written`.
  std::string bytes(const std::string& written) const;
  /// The unknown token of the model, if it has one.
  std::optional<int32_t> unknown_id() const;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace ablate::tokenizer::huggingface
