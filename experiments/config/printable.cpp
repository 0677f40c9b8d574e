#include "experiments/config/printable.h"

#include <string_view>

namespace ablate::config {
namespace {

bool is_control(char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7F; }

/// Bytes of the well-formed character that `text` begins with (RFC 3629); 0 where it begins with
/// none, or with one of the control characters U+0080 to U+009F.
size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool surrogate = first == 0xED && byte(1) > 0x9F;
  const bool beyond = first == 0xF4 && byte(1) > 0x8F;
  const bool control = first == 0xC2 && byte(1) < 0xA0;
  return overlong || surrogate || beyond || control ? 0 : length;
}

}  // namespace

std::string printable(std::string text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = character_length(std::string_view(text).substr(i));
    const bool kept = text[i] == '\t' || text[i] == '\n' || (length > 0 && !is_control(text[i]));
    if (!kept) text[i] = '?';
    i += kept && length > 0 ? length : 1;
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
