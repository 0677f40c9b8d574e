#include "tokenizer/huggingface/vocabulary.h"

#include <algorithm>

namespace ablate::tokenizer::huggingface {

Vocabulary::Vocabulary(const Node& node) {
  for (const auto& [token, place] : node.members()) add(token, place.count(kLargestId), place);
}

void Vocabulary::add(std::string token, int64_t id, const Node& place) {
  const auto known = static_cast<int32_t>(id);
  const auto [entry, is_new] = ids_.emplace(std::move(token), known);
  if (!is_new) place.refuse("is the token '" + entry->first + "', which stands twice");
  const auto [holder, is_free] = tokens_.emplace(known, &entry->first);
  if (!is_free)
    place.refuse("has the id " + std::to_string(id) + ", which '" + *holder->second + "' has too");
  end_ = std::max(end_, id + 1);
}

const std::string* Vocabulary::token(int32_t id) const {
  const auto found = tokens_.find(id);
  return found == tokens_.end() ? nullptr : found->second;
}

ByteFallback::ByteFallback(const Vocabulary& vocabulary) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::string token{'<', '0', 'x', kDigits[byte / 16], kDigits[byte % 16], '>'};
    ids_.push_back(vocabulary.id(token).value_or(-1));
  }
}

bool ByteFallback::write(std::string_view text, std::vector<int32_t>& ids) const {
  if (ids_.empty()) return false;
  const auto id_of = [&](char c) { return ids_[static_cast<unsigned char>(c)]; };
  if (std::ranges::any_of(text, [&](char c) { return id_of(c) < 0; })) return false;
  for (const char c : text) ids.push_back(id_of(c));
  return true;
}

}  // namespace ablate::tokenizer::huggingface
