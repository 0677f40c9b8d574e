#include <cstring>

#include "tests/fuzz/fuzz.h"
#include "tokenizer/bpe_sampler.h"
#include "tokenizer/text/unicode.h"
#include "tokenizer/tokenizer.h"

namespace ablate::fuzz {
namespace {

tokenizer::Tokenizer trained(tokenizer::Kind kind) {
  const std::vector<std::string> lines{"the cat sat on the mat", "the dog sat on the log",
                                       "ein Maß für Öl", "a cat, a dog: 12 34"};
  return tokenizer::Tokenizer::train({.kind = kind}, lines);
}

std::vector<int32_t> ids_in(std::string_view bytes) {
  std::vector<int32_t> ids(bytes.size() / sizeof(int32_t));
  if (!ids.empty()) std::memcpy(ids.data(), bytes.data(), ids.size() * sizeof(int32_t));
  return ids;
}

}  // namespace

/// Ids, and text, of trained tokenizers. A sampler that drops nothing encodes as they do, and bytes
/// keep all text.
void tokens(std::string_view bytes) {
  static const auto kBpe = trained(tokenizer::Kind::bpe);
  static const auto kBytes = trained(tokenizer::Kind::byte);
  static const tokenizer::BpeSampler kSampler(kBpe);
  for (const auto* model : {&kBpe, &kBytes})
    require(tokenizer::valid_utf8(model->decode(ids_in(bytes))));
  std::vector<int32_t> small;
  for (const char byte : bytes) small.push_back(byte);
  kBpe.decode(small);
  kBytes.decode(small);
  if (!tokenizer::valid_utf8(bytes)) return;
  const auto ids = kBpe.encode(bytes);
  kBpe.decode(ids);
  require(kSampler.encode(bytes, [] { return false; }) == ids);
  require(kBytes.decode(kBytes.encode(bytes)) == bytes);
}

}  // namespace ablate::fuzz
