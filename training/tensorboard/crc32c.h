#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ablate::training {

namespace crc32c_detail {
constexpr std::array<uint32_t, 256> table() {
  std::array<uint32_t, 256> entries{};
  for (uint32_t byte = 0; byte < entries.size(); ++byte) {
    uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit)
      remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? 0x82F63B78U : 0U);
    entries[byte] = remainder;
  }
  return entries;
}
}  // namespace crc32c_detail

/// CRC-32C (Castagnoli) of `bytes`, as in RFC 3720, appendix B.4.
constexpr uint32_t crc32c(std::string_view bytes) {
  constexpr auto kTable = crc32c_detail::table();
  uint32_t remainder = 0xFFFFFFFFU;
  for (const char byte : bytes)
    remainder = (remainder >> 8) ^ kTable[(remainder ^ static_cast<uint8_t>(byte)) & 0xFFU];
  return ~remainder;
}

}  // namespace ablate::training
