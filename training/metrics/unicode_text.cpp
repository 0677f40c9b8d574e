#include "training/metrics/unicode_text.h"

#include <cstddef>

#include "tokenizer/text/unicode.h"

namespace ablate::training {
namespace {

bool space(char32_t character) {
  return (character >= 0x1c && character <= 0x1f) || tokenizer::is_white_space(character);
}

}  // namespace

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  size_t word = 0;
  for (size_t offset = 0; offset < text.size();) {
    const auto start = offset;
    if (!space(tokenizer::next_code_point(text, offset))) continue;
    if (start > word) words.push_back(text.substr(word, start - word));
    word = offset;
  }
  if (text.size() > word) words.push_back(text.substr(word));
  return words;
}

std::string_view strip_end(std::string_view text) {
  const auto words = split_words(text);
  if (words.empty()) return {};
  return text.substr(0,
                     static_cast<size_t>(words.back().data() - text.data()) + words.back().size());
}

}  // namespace ablate::training
