#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tokenizer/huggingface/node.h"

struct re_pattern_buffer;  // of Oniguruma

namespace ablate::tokenizer::huggingface {

/// A stretch of a text, in bytes, that a pattern matched or did not.
struct Part {
  uint32_t begin, end;
  bool match;
};

/// A regular expression of Oniguruma, the library that `tokenizers` uses, so that it means the
/// same.
class Regex {
 public:
  /// Throws TokenizerError with the reason if the expression is wrong.
  explicit Regex(std::string_view pattern);

  /// Divides the text at all matches. Throws TokenizerError if matching takes too long. REQUIRES:
  /// valid UTF-8 of less than 2 GiB.
  void divide(std::string_view text, std::vector<Part>& parts) const;

 private:
  std::shared_ptr<re_pattern_buffer> code_;
};

/// What Split and Replace look for.
class Pattern {
 public:
  /// {"String": ...} or {"Regex": ...}
  explicit Pattern(const Node& node);
  explicit Pattern(Regex regex) : sought_(std::move(regex)) {}
  explicit Pattern(std::string literal) : sought_(std::move(literal)) {}

  /// As Regex::divide.
  void divide(std::string_view text, std::vector<Part>& parts) const;

 private:
  std::variant<Regex, std::string> sought_;
};

}  // namespace ablate::tokenizer::huggingface
