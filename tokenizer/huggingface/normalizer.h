#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tokenizer/huggingface/node.h"
#include "tokenizer/huggingface/regex.h"
#include "tokenizer/text/unicode.h"

namespace ablate::tokenizer::huggingface {

/// A text on its way to tokens. `first` counts its leading bytes that stem from the first character
/// of the line; Metaspace with the scheme "first" asks for it.
struct Text {
  std::string bytes;
  size_t first = 0;
};

/// SentencePiece's table of replacements, a double-array trie (Precompiled).
class CharsMap {
 public:
  /// The base64 text of the table. Throws TokenizerError with the reason if it is malformed.
  explicit CharsMap(std::string_view base64);

  /// What `text` becomes by the shortest entry that it begins with; null if there is none.
  const char* find(std::string_view text) const;

 private:
  std::vector<uint32_t> units_;
  std::string replacements_;  // each ends with a NUL
};

struct Lowercase {};
struct StripAccents {};
struct Nmt {};
struct ByteCharacters {};  // every byte as the character that byte-level BPE writes for it
struct Bert {
  bool clean = true, chinese = true, accents = true, lowercase = true;
};
struct Replace {
  Pattern pattern;
  std::string content;
};
struct Prepend {
  std::string text;
};
struct Strip {
  bool left = true, right = true;
};

/// The normalizer of a tokenizer.json: steps that follow each other.
class Normalizer {
 public:
  Normalizer() = default;
  /// Throws TokenizerError if a part is unknown or malformed.
  explicit Normalizer(const Node& node);

  /// REQUIRES: valid UTF-8.
  void normalize(Text& text) const;

 private:
  using Step = std::variant<NormalForm, Lowercase, StripAccents, Nmt, ByteCharacters, Bert, Replace,
                            Prepend, Strip, CharsMap>;
  void add(const Node& node);

  std::vector<Step> steps_;
};

/// A Replace, which is a normalizer and a decoder.
Replace read_replace(const Node& node);

/// The character that byte-level BPE writes for a byte, in UTF-8 (Radford et al. 2019).
std::string_view byte_character(unsigned char byte);
/// The byte of such a character; negative if it is none.
int byte_of_character(char32_t point);

}  // namespace ablate::tokenizer::huggingface
