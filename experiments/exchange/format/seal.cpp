#include "experiments/exchange/format/seal.h"

#include <algorithm>
#include <string_view>

#include "tokenizer/text/digest.h"
#include "training/storage/errors.h"

namespace ablate::exchange {
namespace {

constexpr size_t kDigest = 64;

[[noreturn]] void reject(const std::string& source, const std::string& why) {
  throw training::CheckpointError(source + ": " + why);
}

}  // namespace

std::string sealed(std::string zip) {
  // The last two bytes of a zip file without a comment are the comment's length.
  zip[zip.size() - 2] = static_cast<char>(kDigest);
  zip[zip.size() - 1] = 0;
  return zip + tokenizer::sha256(zip);
}

void check_seal(const std::string& bytes, const std::string& source) {
  if (!bytes.starts_with("PK"))
    reject(source, "is no TorchScript file; make one with `ablate export RUN --to FILE`");
  const auto whole = std::string_view(bytes);
  const auto content = whole.substr(0, whole.size() - std::min(kDigest, whole.size()));
  const auto digest = whole.substr(content.size());
  if (digest.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    reject(source, "was not written by `ablate export`, or its end is missing");
  if (tokenizer::sha256(content) != digest)
    reject(source, "is damaged: its bytes differ from those that were written (SHA-256)");
}

}  // namespace ablate::exchange
