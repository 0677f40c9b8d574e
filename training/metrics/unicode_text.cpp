#include "training/metrics/unicode_text.h"

#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace ablate::training {
namespace {

/// The code point at `offset`, which moves past it.
char32_t next(std::string_view text, size_t& offset) {
  UChar32 character = 0;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  U8_NEXT_OR_FFFD(bytes, offset, text.size(), character);
  return static_cast<char32_t>(character);
}

bool space(char32_t character) {
  return (character >= 0x1c && character <= 0x1f) ||
         u_isUWhiteSpace(static_cast<UChar32>(character));
}

}  // namespace

std::string lower_case(std::string_view text) {
  if (text.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()) / 4)
    throw std::invalid_argument("a line of more than 512 MiB has no lower-case form here");
  std::string lowered;
  icu::StringByteSink<std::string> sink(&lowered, static_cast<int32_t>(text.size()));
  UErrorCode status = U_ZERO_ERROR;
  icu::CaseMap::utf8ToLower("", 0, {text.data(), static_cast<int32_t>(text.size())}, sink, nullptr,
                            status);
  if (U_FAILURE(status))
    throw std::runtime_error(std::string("ICU cannot lower-case a line: ") + u_errorName(status));
  return lowered;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  size_t word = 0;
  for (size_t offset = 0; offset < text.size();) {
    const auto start = offset;
    if (!space(next(text, offset))) continue;
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

std::u32string code_points(std::string_view text) {
  std::u32string points;
  points.reserve(text.size());
  for (size_t offset = 0; offset < text.size();) points += next(text, offset);
  return points;
}

}  // namespace ablate::training
