#include <array>
#include <cstring>

#include "tokenizer/huggingface/normalizer.h"

namespace ablate::tokenizer::huggingface {
namespace {

std::string decoded(std::string_view base64) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (base64.size() % 4 != 0) throw TokenizerError("is no base64");
  const auto padding = base64.ends_with("==") ? 2U : base64.ends_with("=") ? 1U : 0U;
  std::string bytes;
  uint32_t bits = 0, count = 0;
  for (const char c : base64.substr(0, base64.size() - padding)) {
    const auto digit = kDigits.find(c);
    if (digit == std::string_view::npos) throw TokenizerError("is no base64");
    bits = (bits << 6U | static_cast<uint32_t>(digit)) & 0xffffU;
    count += 6;
    if (count >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 0xffU);
  }
  return bytes;
}

// A unit of a Darts double array.
size_t offset_of(uint32_t unit) { return size_t{unit >> 10U} << ((unit & (1U << 9U)) >> 6U); }
bool has_leaf(uint32_t unit) { return (unit >> 8U & 1U) != 0; }
uint32_t label_of(uint32_t unit) { return unit & (1U << 31U | 0xffU); }
uint32_t value_of(uint32_t unit) { return unit & ~(1U << 31U); }

}  // namespace

CharsMap::CharsMap(std::string_view base64) {
  const auto bytes = decoded(base64);
  uint32_t size = 0;
  if (bytes.size() < sizeof size) throw TokenizerError("has no table");
  std::memcpy(&size, bytes.data(), sizeof size);
  const auto rest = std::string_view(bytes).substr(sizeof size);
  if (size == 0 || size % sizeof(uint32_t) != 0 || size > rest.size())
    throw TokenizerError("has a table of a wrong size");
  units_.resize(size / sizeof(uint32_t));
  std::memcpy(units_.data(), rest.data(), size);
  replacements_ = rest.substr(size);
  if (!valid_utf8(replacements_)) throw TokenizerError("replaces by text that is not valid UTF-8");
}

// The first entry found counts, which is the shortest, since `tokenizers` takes it so, too.
const char* CharsMap::find(std::string_view text) const {
  size_t node = offset_of(units_.front());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) return nullptr;
    node ^= byte;
    if (node >= units_.size() || label_of(units_[node]) != byte) return nullptr;
    const auto unit = units_[node];
    node ^= offset_of(unit);
    if (node >= units_.size()) return nullptr;
    if (!has_leaf(unit)) continue;
    const auto value = value_of(units_[node]);
    return value < replacements_.size() ? replacements_.c_str() + value : nullptr;
  }
  return nullptr;
}

}  // namespace ablate::tokenizer::huggingface
