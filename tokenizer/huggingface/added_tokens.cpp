#include "tokenizer/huggingface/added_tokens.h"

#include <algorithm>
#include <set>

#include "tokenizer/text/unicode.h"

namespace ablate::tokenizer::huggingface {
namespace {

AddedToken read_token(const Node& node) {
  node.allow({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
  AddedToken token;
  token.content = node.at("content").text();
  if (token.content.empty()) node.refuse("is empty");
  token.id = static_cast<int32_t>(node.at("id").count(kLargestId));
  token.single_word = node.at("single_word").flag();
  token.left_strip = node.at("lstrip").flag();
  token.right_strip = node.at("rstrip").flag();
  token.normalized = node.at("normalized").flag();
  token.special = node.at("special").flag();
  return token;
}

const std::string& sought(const AddedToken& token) {
  return token.normalized ? token.normal : token.content;
}

bool word_ends_at(std::string_view text, size_t end) {
  if (end == 0) return false;
  auto begin = character_before(text, end);
  return is_word_part(next_code_point(text, begin));
}

bool word_begins_at(std::string_view text, size_t begin) {
  return begin < text.size() && is_word_part(next_code_point(text, begin));
}

size_t before_spaces(std::string_view text, size_t end) {
  while (end > 0) {
    const auto begin = character_before(text, end);
    auto place = begin;
    if (!is_white_space(next_code_point(text, place))) break;
    end = begin;
  }
  return end;
}

size_t behind_spaces(std::string_view text, size_t begin) {
  for (auto end = begin; begin < text.size(); begin = end)
    if (!is_white_space(next_code_point(text, end))) break;
  return begin;
}

}  // namespace

AddedTokens::Search::Search(const std::vector<AddedToken>& tokens, bool normalized)
    : first_(256), trie_([&] {
        std::vector<std::pair<std::string, int32_t>> entries;
        for (size_t i = 0; i < tokens.size(); ++i)
          if (tokens[i].normalized == normalized)
            entries.emplace_back(sought(tokens[i]), static_cast<int32_t>(i));
        return Trie(std::move(entries));
      }()) {
  for (const auto& token : tokens)
    if (token.normalized == normalized)
      first_[static_cast<unsigned char>(sought(token).front())] = true;
}

void AddedTokens::Search::divide(std::string_view text, const std::vector<AddedToken>& tokens,
                                 std::vector<Piece>& pieces) const {
  size_t done = 0;  // bytes that stand in pieces
  const auto add = [&](size_t begin, size_t end, int32_t id) {
    pieces.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end), id, 0});
  };
  for (size_t at = 0; at < text.size();) {
    size_t length = 0;
    int32_t index = 0;
    if (first_[static_cast<unsigned char>(text[at])])
      trie_.prefixes(text.substr(at), [&](size_t found, int32_t entry) {
        length = found;
        index = entry;
      });
    if (length == 0) {
      ++at;
      continue;
    }
    auto begin = at, end = at + length;
    at = end;
    const auto& token = tokens[static_cast<size_t>(index)];
    if (token.hidden) continue;
    if (token.single_word && (word_ends_at(text, begin) || word_begins_at(text, end))) continue;
    if (token.left_strip) begin = std::max(before_spaces(text, begin), done);
    if (token.right_strip) end = behind_spaces(text, end);
    if (begin >= end) continue;  // spaces that the token before it has taken
    if (done < begin) add(done, begin, kText);
    add(begin, end, token.id);
    done = end;
  }
  if (done < text.size()) add(done, text.size(), kText);
}

std::vector<AddedToken> AddedTokens::read(const std::optional<Node>& node, const Vocabulary& model,
                                          const Normalizer& normalizer) {
  std::vector<AddedToken> tokens;
  if (!node) return tokens;
  auto next = static_cast<int64_t>(model.size());
  std::set<std::string, std::less<>> contents, raw, normal;
  for (const auto& place : node->list()) {
    auto token = read_token(place);
    const auto quoted = "'" + token.content + "'";
    const auto known = model.id(token.content);
    const auto due = known ? int64_t{*known} : next++;
    if (token.id != due)
      place.refuse("gives " + quoted + " the id " + std::to_string(token.id) + " instead of " +
                   std::to_string(due));
    if (!contents.insert(token.content).second) place.refuse("is " + quoted + " a second time");
    if (!known && model.token(token.id) != nullptr)
      place.refuse("gives " + quoted + " the id of '" + *model.token(token.id) + "'");
    if (token.normalized) {
      Text text{token.content};
      normalizer.normalize(text);
      token.normal = text.bytes;
    }
    if (sought(token).empty())
      place.refuse("is " + quoted + ", of which the normalizer leaves nothing");
    if (!(token.normalized ? normal : raw).insert(sought(token)).second)
      place.refuse("is " + quoted + ", which the normalizer makes another one");
    tokens.push_back(std::move(token));
  }
  return tokens;
}

AddedTokens::AddedTokens(const std::optional<Node>& node, const Vocabulary& model,
                         const Normalizer& normalizer, const std::vector<int32_t>& hidden)
    : tokens_(read(node, model, normalizer)), raw_(tokens_, false), normal_(tokens_, true) {
  for (size_t i = 0; i < tokens_.size(); ++i) {
    by_id_.emplace(tokens_[i].id, i);
    by_content_.emplace(tokens_[i].content, i);
    tokens_[i].hidden = std::ranges::find(hidden, tokens_[i].id) != hidden.end();
  }
}

const AddedToken* AddedTokens::find(int32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const auto found = by_content_.find(std::string(content));
  return found == by_content_.end() ? nullptr : &tokens_[found->second];
}

Pieces AddedTokens::divide(const std::string& line, const Normalizer& normalizer) const {
  std::vector<Piece> raw, found;
  raw_.divide(line, tokens_, raw);
  Pieces pieces;
  size_t first = 0;
  if (!line.empty()) next_code_point(line, first);
  for (const auto& piece : raw) {
    const auto begin = static_cast<uint32_t>(pieces.bytes.size());
    Text text{line.substr(piece.begin, piece.end - piece.begin),
              first > piece.begin ? std::min<size_t>(first, piece.end) - piece.begin : 0};
    if (piece.id != kText) {
      pieces.bytes += text.bytes;
      pieces.list.push_back({begin, static_cast<uint32_t>(pieces.bytes.size()), piece.id, 0});
      continue;
    }
    normalizer.normalize(text);
    found.clear();
    normal_.divide(text.bytes, tokens_, found);
    for (const auto& part : found)
      pieces.list.push_back(
          {begin + part.begin, begin + part.end, part.id,
           static_cast<uint32_t>(
               text.first > part.begin ? std::min<size_t>(text.first, part.end) - part.begin : 0)});
    pieces.bytes += text.bytes;
  }
  return pieces;
}

}  // namespace ablate::tokenizer::huggingface
