#include "tokenizer/utf8.h"

#include <unicode/utf8.h>

#include <cstdint>

namespace ablate::tokenizer {

bool valid_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  UChar32 point = 0;
  for (size_t i = 0; i < text.size() && point >= 0;) U8_NEXT(bytes, i, text.size(), point);
  return point >= 0;
}

}  // namespace ablate::tokenizer
