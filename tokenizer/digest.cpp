#include "tokenizer/digest.h"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace ablate::tokenizer {
namespace {

void require_sha256(int result) {
  if (result != 1) throw std::runtime_error("SHA-256 is not available");
}

}  // namespace

Digest::Digest() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  require_sha256(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
}

void Digest::add(std::string_view bytes) {
  require_sha256(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
}

std::string Digest::sha256() {
  std::array<unsigned char, 32> digest{};
  require_sha256(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr));
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::string sha256(std::string_view bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.sha256();
}

}  // namespace ablate::tokenizer
