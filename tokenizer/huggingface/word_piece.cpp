#include "tokenizer/huggingface/word_piece.h"

#include <optional>

#include "tokenizer/text/unicode.h"

namespace ablate::tokenizer::huggingface {
namespace {

int32_t read_unknown(const Node& node, const Vocabulary& vocabulary) {
  const auto place = node.at("unk_token");
  const auto id = vocabulary.id(place.text());
  if (!id) place.refuse("is '" + place.text() + "', which is not in the vocabulary");
  return *id;
}

}  // namespace

WordPiece::WordPiece(const Node& node)
    : vocabulary_(node.at("vocab")),
      unknown_(read_unknown(node, vocabulary_)),
      prefix_(node.at("continuing_subword_prefix").text()),
      longest_(node.at("max_input_chars_per_word").count(1 << 20)) {
  node.allow({"unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"});
}

void WordPiece::encode(std::string_view word, std::vector<int32_t>& ids, Hidden* hidden) const {
  const auto known = ids.size();
  if (std::ssize(code_points(word)) <= longest_ && divide(word, ids)) return;
  ids.resize(known);
  ids.push_back(unknown_);
  if (hidden != nullptr) hidden->add(word);
}

bool WordPiece::divide(std::string_view word, std::vector<int32_t>& ids) const {
  std::string part;
  for (size_t begin = 0; begin < word.size();) {
    part = begin > 0 ? prefix_ : "";
    const auto prefix = part.size();
    part += word.substr(begin);
    auto id = vocabulary_.id(part);
    while (!id && part.size() > prefix) {
      part.resize(character_before(part, part.size()));
      if (part.size() > prefix) id = vocabulary_.id(part);
    }
    if (!id) return false;
    ids.push_back(*id);
    begin += part.size() - prefix;
  }
  return true;
}

WordLevel::WordLevel(const Node& node)
    : vocabulary_(node.at("vocab")), unknown_(read_unknown(node, vocabulary_)) {
  node.allow({"unk_token", "vocab"});
}

void WordLevel::encode(std::string_view word, std::vector<int32_t>& ids, Hidden* hidden) const {
  ids.push_back(vocabulary_.id(word).value_or(unknown_));
  if (hidden != nullptr && ids.back() == unknown_) hidden->add(word);
}

}  // namespace ablate::tokenizer::huggingface
