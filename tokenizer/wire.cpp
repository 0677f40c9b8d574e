#include "tokenizer/wire.h"

namespace ablate::tokenizer {

bool WireReader::varint(uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7fU) << shift;
    if ((byte & 0x80U) == 0) return true;
  }
  return false;
}

bool WireReader::fixed(size_t size, uint64_t& value) {
  if (rest_.size() < size) return false;
  value = 0;
  for (size_t i = 0; i < size; ++i)
    value |= static_cast<uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
  rest_.remove_prefix(size);
  return true;
}

bool WireReader::next(WireField& field) {
  uint64_t key = 0;
  if (!varint(key)) return false;
  field = {.number = key >> 3U, .type = static_cast<unsigned>(key & 7U)};
  if (field.number == 0) return false;
  switch (field.type) {
    case 0:
      return varint(field.value);
    case 1:
      return fixed(8, field.value);
    case 2: {
      uint64_t size = 0;
      if (!varint(size) || size > rest_.size()) return false;
      field.bytes = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return true;
    }
    case 5:
      return fixed(4, field.value);
    default:
      return false;
  }
}

}  // namespace ablate::tokenizer
