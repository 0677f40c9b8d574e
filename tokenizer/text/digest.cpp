#include "tokenizer/text/digest.h"

#include <algorithm>
#include <bit>

namespace ablate::tokenizer {
namespace {

// Names and numbers of FIPS 180-4, sections 4.1.2 and 4.2.2.
constexpr std::array<uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr uint32_t sigma(uint32_t x, int first, int second, uint32_t third) {
  return std::rotr(x, first) ^ std::rotr(x, second) ^ third;
}

/// The message schedule W of a block.
std::array<uint32_t, 64> schedule(const unsigned char* block) {
  std::array<uint32_t, 64> w{};
  for (size_t t = 0; t < 16; ++t)
    for (size_t byte = 0; byte < 4; ++byte) w[t] = w[t] << 8U | block[4 * t + byte];
  for (size_t t = 16; t < 64; ++t)
    w[t] = sigma(w[t - 2], 17, 19, w[t - 2] >> 10U) + w[t - 7] +
           sigma(w[t - 15], 7, 18, w[t - 15] >> 3U) + w[t - 16];
  return w;
}

}  // namespace

void Digest::mix(const unsigned char* block) {
  const auto w = schedule(block);
  auto [a, b, c, d, e, f, g, h] = state_;
  for (size_t t = 0; t < 64; ++t) {
    const uint32_t choice = (e & f) ^ (~e & g), majority = (a & b) ^ (a & c) ^ (b & c);
    const uint32_t first = h + sigma(e, 6, 11, std::rotr(e, 25)) + choice + kRound[t] + w[t];
    const uint32_t second = sigma(a, 2, 13, std::rotr(a, 22)) + majority;
    h = g, g = f, f = e, e = d + first;
    d = c, c = b, b = a, a = first + second;
  }
  const std::array<uint32_t, 8> mixed = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state_.size(); ++i) state_[i] += mixed[i];
}

void Digest::add(std::string_view bytes) {
  const auto* next = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t left = bytes.size();
  const auto waiting = static_cast<size_t>(size_ % kBlock);
  size_ += left;
  if (waiting + left < kBlock) {
    std::copy_n(next, left, block_.data() + waiting);
    return;
  }
  if (waiting > 0) {
    const size_t missing = kBlock - waiting;
    std::copy_n(next, missing, block_.data() + waiting);
    mix(block_.data());
    next += missing, left -= missing;
  }
  for (; left >= kBlock; next += kBlock, left -= kBlock) mix(next);
  std::copy_n(next, left, block_.data());
}

std::string Digest::sha256() {
  const uint64_t bits = 8 * size_;
  // A one, then zeros until eight bytes are missing from a block, then the length.
  std::string padding(1 + (2 * kBlock - 9 - size_ % kBlock) % kBlock, '\0');
  padding[0] = '\x80';
  for (int shift = 56; shift >= 0; shift -= 8) padding += static_cast<char>(bits >> shift);
  add(padding);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const auto word : state_)
    for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[word >> shift & 15U];
  return text;
}

std::string sha256(std::string_view bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.sha256();
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    for (size_t k = 0; k < 3; ++k)
      three = three << 8U | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0U);
    for (size_t k = 0; k < 4; ++k)
      result += i + k > bytes.size() ? '=' : kLetters[three >> (18 - 6 * k) & 63U];
  }
  return result;
}

}  // namespace ablate::tokenizer
