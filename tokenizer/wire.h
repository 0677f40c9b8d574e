#pragma once

#include <cstdint>
#include <string_view>

namespace ablate::tokenizer {

/// One field of a serialised protocol-buffer message.
struct WireField {
  uint64_t number = 0;
  unsigned type = 0;       // 0 varint, 1 eight bytes, 2 bytes, 5 four bytes
  uint64_t value = 0;      // of a number, as its raw bits
  std::string_view bytes;  // of type 2
};

/// Reads a message field by field; never reads outside `bytes`.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }
  /// False where the message is malformed.
  bool next(WireField& field);

 private:
  bool varint(uint64_t& value);
  bool fixed(size_t size, uint64_t& value);

  std::string_view rest_;
};

}  // namespace ablate::tokenizer
