#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace ablate::tokenizer {

/// SHA-256 of `bytes` as 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

/// The SHA-256 of bytes that come in parts.
class Digest {
 public:
  Digest();
  void add(std::string_view bytes);
  /// Of all bytes added. REQUIRES: nothing is added afterwards.
  std::string sha256();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;  // OpenSSL's
};

}  // namespace ablate::tokenizer
