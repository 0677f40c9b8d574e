#include <array>

#include "tokenizer/huggingface/normalizer.h"

namespace ablate::tokenizer::huggingface {
namespace {

/// Printable characters of Latin-1 stand for themselves, the other bytes for U+0100 and on.
struct Table {
  std::array<std::string, 256> written;
  std::array<int, 0x144> bytes{};

  Table() {
    bytes.fill(-1);
    char32_t other = 0x100;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const bool itself = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte != 0xad);
      const char32_t point = itself ? byte : other++;
      append_utf8(written[byte], point);
      bytes[point] = static_cast<int>(byte);
    }
  }
};

const Table& table() {
  static const Table kTable;
  return kTable;
}

}  // namespace

std::string_view byte_character(unsigned char byte) { return table().written[byte]; }

int byte_of_character(char32_t point) {
  return point < table().bytes.size() ? table().bytes[point] : -1;
}

}  // namespace ablate::tokenizer::huggingface
