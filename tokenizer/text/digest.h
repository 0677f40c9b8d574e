#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ablate::tokenizer {

/// Base64 of `bytes` (RFC 4648), with its padding.
std::string base64(std::string_view bytes);

/// SHA-256 of `bytes` as 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

/// The SHA-256 (FIPS 180-4) of bytes that come in parts.
class Digest {
 public:
  void add(std::string_view bytes);
  /// The digest of all bytes added. REQUIRES: no bytes are added afterwards.
  std::string sha256();

 private:
  static constexpr size_t kBlock = 64;

  void mix(const unsigned char* block);

  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, kBlock> block_{};  // its first bytes are not yet mixed in
  uint64_t size_ = 0;                          // bytes added
};

}  // namespace ablate::tokenizer
