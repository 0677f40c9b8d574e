#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace ablate::tokenizer {

/// SHA-256 of `bytes` as 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

/// The SHA-256 of bytes that come in parts.
class Digest {
 public:
  Digest();
  ~Digest();
  void add(std::string_view bytes);
  /// Of all bytes added. REQUIRES: nothing is added afterwards.
  std::string sha256();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace ablate::tokenizer
