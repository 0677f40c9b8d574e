#include "tokenizer/fidelity.h"

#include "tokenizer/special_ids.h"

namespace ablate::tokenizer {
namespace {

constexpr std::string_view kSpace = "\u2581";  // as SentencePiece writes it

std::string with_spaces(std::string text) {
  for (auto at = text.find(kSpace); at != std::string::npos; at = text.find(kSpace, at + 1))
    text.replace(at, kSpace.size(), " ");
  return text;
}

}  // namespace

std::string normal_form(const Tokenizer& tokenizer, std::string_view text) {
  return with_spaces(tokenizer.normalized(text));
}

Fidelity fidelity(const Tokenizer& tokenizer, std::string_view text) {
  const auto ids = tokenizer.encode(text);
  const auto tokens = tokenizer.tokens(text);
  Fidelity result;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != kUnk) continue;
    ++result.unknown_tokens;
    result.hidden_bytes += std::ssize(with_spaces(tokens.at(i)));
  }
  const auto back = tokenizer.decode(ids);
  result.altered = back != text;
  result.lost = result.altered && normal_form(tokenizer, back) != normal_form(tokenizer, text);
  return result;
}

}  // namespace ablate::tokenizer
