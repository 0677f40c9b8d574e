#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tokenizer/huggingface/node.h"
#include "tokenizer/huggingface/pre_tokenizer.h"

namespace ablate::tokenizer::huggingface {

struct FromByteCharacters {};  // ByteLevel
struct FromByteTokens {};      // ByteFallback
struct Fuse {};
struct JoinWordPieces {
  std::string prefix;
  bool cleanup = true;
};
struct EndOfWord {  // BPEDecoder
  std::string suffix;
};
struct StripEnds {
  std::string character;
  int64_t start = 0, stop = 0;
};

/// Takes spaces before punctuation away, as Transformers does.
void clean_up(std::string& text);

/// The decoder of a tokenizer.json: steps that follow each other.
class Decoder {
 public:
  Decoder() = default;
  /// Throws TokenizerError if a part is unknown or malformed.
  explicit Decoder(const Node& node);

  /// The text of tokens.
  std::string decode(std::vector<std::string> tokens) const;
  /// The bytes of a token if it is written in the characters of bytes; else the token.
  std::string bytes(const std::string& token) const;
  /// The text of a token by itself if it is written in the characters of bytes, unless these are no
  /// valid UTF-8; else the token.
  std::string spelling(const std::string& token) const;

 private:
  using Step = std::variant<FromByteCharacters, FromByteTokens, Fuse, JoinWordPieces, EndOfWord,
                            StripEnds, Metaspace, Replace>;
  void add(const Node& node);

  std::vector<Step> steps_;
  std::string between_ = " ";  // the tokens of a file without a decoder
};

}  // namespace ablate::tokenizer::huggingface
