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

struct Digest::Context {
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> evp{EVP_MD_CTX_new()};
};

Digest::Digest() : context_(std::make_unique<Context>()) {
  require_sha256(EVP_DigestInit_ex(context_->evp.get(), EVP_sha256(), nullptr));
}

Digest::~Digest() = default;

void Digest::add(std::string_view bytes) {
  require_sha256(EVP_DigestUpdate(context_->evp.get(), bytes.data(), bytes.size()));
}

std::string Digest::sha256() {
  std::array<unsigned char, 32> digest{};
  require_sha256(EVP_DigestFinal_ex(context_->evp.get(), digest.data(), nullptr));
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
