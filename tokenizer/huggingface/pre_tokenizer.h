#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tokenizer/huggingface/node.h"
#include "tokenizer/huggingface/normalizer.h"
#include "tokenizer/huggingface/regex.h"

namespace ablate::tokenizer::huggingface {

inline constexpr int32_t kText = -1;

/// A stretch of a text, in bytes: a token with an id, or text (kText) that a model divides further.
/// `first` is that of Text.
struct Piece {
  uint32_t begin, end;
  int32_t id;
  uint32_t first;
};

struct Pieces {
  std::string bytes;
  std::vector<Piece> list;  // in the order of the text, none of them empty
};

inline std::string_view text_of(const Pieces& pieces, const Piece& piece) {
  return std::string_view(pieces.bytes).substr(piece.begin, piece.end - piece.begin);
}

/// What becomes of the delimiters at which a text is divided.
enum class Delimiters { removed, isolated, with_previous, with_next, contiguous };

/// Divides at a pattern.
struct Split {
  Pattern pattern;
  bool invert = false;
  Delimiters delimiters = Delimiters::isolated;
};
/// Divides at each character of a class.
struct SplitAt {
  bool (*is_delimiter)(char32_t);
  Delimiters delimiters = Delimiters::isolated;
};
struct Words {};         // runs of \w, and of what is neither \w nor \s (Whitespace)
struct PrependSpace {};  // unless a text begins with one
struct Metaspace {
  enum class Prepend { always, first, never };
  std::string mark;
  Prepend prepend = Prepend::always;
  bool split = true;
};
struct FixedLength {
  int64_t characters = 1;
};

/// The pre-tokenizer of a tokenizer.json: steps that follow each other.
class PreTokenizer {
 public:
  PreTokenizer() = default;
  /// Throws TokenizerError if a part is unknown or malformed.
  explicit PreTokenizer(const Node& node);

  void divide(Pieces& pieces) const;

 private:
  using Step =
      std::variant<Split, SplitAt, Words, PrependSpace, ByteCharacters, Metaspace, FixedLength>;
  void add(const Node& node);
  void add_leaf(const Node& node, const std::string& type);

  std::vector<Step> steps_;
};

/// A Metaspace, which is a pre-tokenizer and a decoder.
Metaspace read_metaspace(const Node& node);

}  // namespace ablate::tokenizer::huggingface
