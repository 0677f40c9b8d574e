#include "tokenizer/huggingface/bpe.h"

#include <array>
#include <queue>

#include "tokenizer/text/unicode.h"

namespace ablate::tokenizer::huggingface {
namespace {

constexpr uint64_t key_of(int32_t left, int32_t right) {
  return uint64_t{static_cast<uint32_t>(left)} << 32U | static_cast<uint32_t>(right);
}

std::string optional_text(const Node& node, const char* key) {
  const auto found = node.find(key);
  return found ? found->text() : "";
}

}  // namespace

/// The symbols of one word while they are merged.
class Bpe::Merging {
 public:
  Merging(const Bpe& model, const std::vector<int32_t>& ids) : model_(model) {
    const auto count = static_cast<int32_t>(ids.size());
    symbols_.reserve(ids.size());
    for (int32_t i = 0; i < count; ++i)
      symbols_.push_back({ids[static_cast<size_t>(i)], i - 1, i + 1 < count ? i + 1 : -1, true});
  }

  void run() {
    for (int32_t i = 0; i + 1 < std::ssize(symbols_); ++i) propose(i);
    while (!queue_.empty()) {
      const auto best = queue_.top();
      queue_.pop();
      apply(best);
    }
  }

  void write(std::vector<int32_t>& ids) const {
    for (const auto& symbol : symbols_)
      if (symbol.alive) ids.push_back(symbol.id);
  }

 private:
  struct Symbol {
    int32_t id, previous, next;
    bool alive;
  };
  struct Candidate {
    uint32_t rank;
    int32_t place, id;
    bool operator<(const Candidate& other) const {  // the largest is taken first
      return rank != other.rank ? rank > other.rank : place > other.place;
    }
  };

  Symbol& at(int32_t place) { return symbols_[static_cast<size_t>(place)]; }

  void propose(int32_t place) {
    const auto& left = at(place);
    if (left.next < 0) return;
    if (const auto* const found = model_.merge(left.id, at(left.next).id))
      queue_.push({found->rank, place, found->id});
  }

  void apply(const Candidate& best) {
    auto& left = at(best.place);
    if (!left.alive || left.next < 0) return;
    auto& right = at(left.next);
    const auto* const found = model_.merge(left.id, right.id);
    if (found == nullptr || found->id != best.id) return;  // one of the two has changed since
    left.id = best.id;
    left.next = right.next;
    right.alive = false;
    if (left.next >= 0) at(left.next).previous = best.place;
    if (left.previous >= 0) propose(left.previous);
    propose(best.place);
  }

  const Bpe& model_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Candidate> queue_;
};

Bpe::Bpe(const Node& node) : vocabulary_(node.at("vocab")) {
  node.allow({"dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
              "byte_fallback", "ignore_merges", "vocab", "merges"});
  if (const auto dropout = node.find("dropout"); dropout && dropout->number() != 0)
    dropout->refuse("must be 0: it would encode a text anew each time");
  if (const auto unknown = node.find("unk_token")) unknown_ = unknown->text();
  prefix_ = optional_text(node, "continuing_subword_prefix");
  suffix_ = optional_text(node, "end_of_word_suffix");
  fuses_unknown_ = node.flag("fuse_unk", false);
  whole_words_ = node.flag("ignore_merges", false);
  if (node.flag("byte_fallback", false)) fallback_ = ByteFallback(vocabulary_);
  read_merges(node.at("merges"));
}

/// Either "left right" or, in newer files, [left, right].
void Bpe::read_merges(const Node& merges) {
  const auto list = merges.list();
  merges_.reserve(list.size());
  uint32_t rank = 0;
  for (const auto& place : list) {
    if (place.is_list()) {
      const auto pair = place.list();
      if (pair.size() != 2) place.refuse("must have two tokens");
      add_merge(pair[0].text(), pair[1].text(), rank++, place);
    } else {
      const auto text = place.text();
      if (text.starts_with("#version")) continue;
      const auto space = text.find(' ');
      if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos)
        place.refuse("must be two tokens with a space between them");
      add_merge(text.substr(0, space), text.substr(space + 1), rank++, place);
    }
  }
}

void Bpe::add_merge(const std::string& left, const std::string& right, uint32_t rank,
                    const Node& place) {
  const auto known = [&](const std::string& token) {
    const auto id = vocabulary_.id(token);
    if (!id) place.refuse("needs '" + token + "', which is not in the vocabulary");
    return *id;
  };
  const auto left_id = known(left), right_id = known(right);
  if (right.size() < prefix_.size()) place.refuse("has a right part without the prefix");
  const auto merged = known(left + right.substr(prefix_.size()));
  merges_.insert_or_assign(key_of(left_id, right_id), Merge{rank, merged});
}

const Bpe::Merge* Bpe::merge(int32_t left, int32_t right) const {
  const auto found = merges_.find(key_of(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

int32_t Bpe::unknown() const {
  if (const auto id = vocabulary_.id(*unknown_)) return *id;
  throw TokenizerError("the tokenizer's unknown token '" + *unknown_ +
                       "' is not in its vocabulary");
}

/// Adds the character from `begin` to `end` to the last unknown token. In its text the mark of a
/// word's end is a space.
void Bpe::hide(std::string_view word, size_t begin, size_t end, Hidden& hidden) const {
  auto& [text, written] = hidden.unknown.back();
  if (text.empty() && begin > 0) written = prefix_;
  text += word.substr(begin, end - begin);
  written += word.substr(begin, end - begin);
  if (end < word.size() || suffix_.empty()) return;
  text += ' ';
  written += suffix_;
}

/// What the word is merged from: its known characters, the bytes of others, or the unknown token.
/// An unknown token waits for the next known character, which bytes are not.
std::vector<int32_t> Bpe::symbols(std::string_view word, Hidden* hidden) const {
  std::vector<int32_t> ids;
  constexpr int32_t kNone = -1;
  int32_t waiting = kNone;
  const auto finish = [&] {
    if (waiting != kNone) ids.push_back(waiting);
    waiting = kNone;
  };
  std::string symbol;
  for (size_t end = 0; end < word.size();) {
    const auto begin = end;
    next_code_point(word, end);
    symbol = word.substr(begin, end - begin);
    if (begin > 0) symbol.insert(0, prefix_);
    if (end == word.size()) symbol += suffix_;
    const auto known = ids.size();
    if (const auto id = vocabulary_.id(symbol)) {
      finish();
      ids.push_back(*id);
    } else if (!fallback_.write(symbol, ids) && unknown_) {
      if (!fuses_unknown_) finish();
      if (hidden != nullptr && waiting == kNone) hidden->unknown.emplace_back();
      if (hidden != nullptr) hide(word, begin, end, *hidden);
      waiting = unknown();
    } else if (ids.size() == known && hidden != nullptr) {
      hidden->left_out += word.substr(begin, end - begin);
    }
  }
  finish();
  return ids;
}

std::optional<int32_t> Bpe::unknown_id() const {
  return unknown_ ? vocabulary_.id(*unknown_) : std::nullopt;
}

void Bpe::encode(std::string_view word, std::vector<int32_t>& ids, Hidden* hidden) const {
  if (whole_words_) {
    if (const auto id = vocabulary_.id(word)) return ids.push_back(*id);
  }
  Merging merging(*this, symbols(word, hidden));
  merging.run();
  merging.write(ids);
}

}  // namespace ablate::tokenizer::huggingface
