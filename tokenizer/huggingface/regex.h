#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tokenizer/huggingface/node.h"

namespace ablate::tokenizer::huggingface {

/// A stretch of a text, in bytes, that a pattern matched or did not.
struct Part {
  uint32_t begin, end;
  bool match;
};

/// A regular expression by PCRE2, with Unicode properties, that means what Oniguruma, which
/// `tokenizers` uses, takes it to mean.
class Regex {
 public:
  /// Throws TokenizerError with the reason if the expression is wrong or means something that PCRE2
  /// cannot express.
  explicit Regex(std::string_view pattern);

  /// Divides the text at all matches. Throws TokenizerError if matching takes too long. REQUIRES:
  /// valid UTF-8 of less than 4 GiB.
  void divide(std::string_view text, std::vector<Part>& parts) const;

 private:
  std::shared_ptr<const void> code_;
};

/// The expression in PCRE2's syntax. Throws TokenizerError with what cannot be expressed.
std::string pcre2_syntax(std::string_view oniguruma);

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
