#include "experiments/corpora/text/text.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <stdexcept>

namespace ablate::corpora {
namespace {

constexpr UChar32 kSoftHyphen = 0xAD;

const icu::Normalizer2& nfc() {
  UErrorCode status = U_ZERO_ERROR;
  const auto* normalizer = icu::Normalizer2::getNFCInstance(status);
  if (U_FAILURE(status)) throw std::runtime_error("ICU has no data for NFC");
  return *normalizer;
}

bool may_begin_a_sentence(UChar32 letter) {
  return u_isupper(letter) != 0 || u_isdigit(letter) != 0 ||
         std::u32string_view(U"\"(„»«“").find(static_cast<char32_t>(letter)) !=
             std::u32string_view::npos;
}

/// Where the next sentence begins if a space at `space` divides two; 0 if it does not.
size_t beginning_after(const std::string& text, size_t space, std::string_view ends) {
  if (text[space] != ' ' || space == 0 || ends.find(text[space - 1]) == std::string_view::npos)
    return 0;
  // Of valid UTF-8 no character is longer than four bytes.
  const auto next = icu::UnicodeString::fromUTF8(text.substr(space + 1, 4));
  return may_begin_a_sentence(next.char32At(0)) ? space + 1 : 0;
}

}  // namespace

std::string normalized(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  const auto composed = nfc().normalize(
      icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())}), status);
  icu::UnicodeString result;
  for (int32_t i = 0; i < composed.length(); i = composed.moveIndex32(i, 1)) {
    const auto letter = composed.char32At(i);
    if (letter == kSoftHyphen) continue;
    if (u_isUWhiteSpace(letter) == 0)
      result.append(letter);
    else if (!result.isEmpty() && !result.endsWith(u' '))
      result.append(u' ');
  }
  if (result.endsWith(u' ')) result.truncate(result.length() - 1);
  std::string utf8;
  return result.toUTF8String(utf8);
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

size_t count_words(std::string_view text) { return words_of(text).size(); }

std::vector<std::string> sentences(const std::string& paragraph, std::string_view ends) {
  std::vector<std::string> found;
  size_t begin = 0;
  for (size_t i = 0; i < paragraph.size(); ++i)
    if (const auto next = beginning_after(paragraph, i, ends); next != 0) {
      found.push_back(paragraph.substr(begin, i - begin));
      begin = next;
    }
  if (begin < paragraph.size()) found.push_back(paragraph.substr(begin));
  return found;
}

}  // namespace ablate::corpora
