#include "experiments/config/printable.h"

#include <string_view>

namespace ablate::config {
namespace {

bool is_control(char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7F; }

/// U+0080 to U+009F, which some terminals obey.
bool is_long_control(std::string_view character) {
  return character.size() == 2 && character[0] == '\xC2' &&
         static_cast<unsigned char>(character[1]) < 0xA0;
}

/// U+2028 to U+202E and U+2066 to U+2069, which begin a line or turn round the order in which a
/// text is read.
bool is_order_control(std::string_view character) {
  if (character.size() != 3) return false;
  const auto begin = character.substr(0, 2);
  const auto last = static_cast<unsigned char>(character[2]);
  return (begin == "\xE2\x80" && last >= 0xA8 && last <= 0xAE) ||
         (begin == "\xE2\x81" && last >= 0xA6 && last <= 0xA9);
}

}  // namespace

size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length == 0 || length > text.size() || lead > 0xF4) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool outside = (lead == 0xED && byte(1) > 0x9F) || (lead == 0xF4 && byte(1) > 0x8F);
  return overlong || outside ? 0 : length;
}

std::string printable(std::string text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(std::string_view(text).substr(i));
    const auto character = std::string_view(text).substr(i, length);
    const bool blank = text[i] == '\t' || text[i] == '\n';
    const bool kept = blank || (length > 0 && !is_control(text[i]) && !is_long_control(character) &&
                                !is_order_control(character));
    if (!kept) text[i] = '?';
    i += kept ? length : 1;
  }
  return text;
}

std::string printable_line(std::string text) {
  text = printable(std::move(text));
  for (char& byte : text)
    if (is_control(byte)) byte = '?';
  return text;
}

}  // namespace ablate::config
