#include "tokenizer/bpe_sampler.h"

#include <algorithm>
#include <iterator>
#include <queue>
#include <utility>

#include "tokenizer/special_tokens.h"

namespace ablate::tokenizer {
namespace {

/// Bytes of the UTF-8 character that starts with `lead`.
size_t character_size(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte < 0xc0) return 1;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/// The byte of a piece that SentencePiece calls "<0x41>".
size_t byte_of(const std::string& piece) { return std::stoul(piece.substr(3, 2), nullptr, 16); }

/// Whether text is written with pieces of this type.
bool is_written(PieceType type) {
  return type == PieceType::normal || type == PieceType::user_defined || type == PieceType::unused;
}

}  // namespace

/// The merges of one line.
class BpeSampler::Merging {
 public:
  Merging(const BpeSampler& sampler, std::string text) : sampler_(sampler), text_(std::move(text)) {
    for (size_t begin = 0; begin < text_.size();) {
      const auto whole = sampler_.user_symbol(std::string_view(text_).substr(begin));
      const auto character = std::min(character_size(text_[begin]), text_.size() - begin);
      const auto index = std::ssize(symbols_);
      symbols_.push_back({.begin = begin,
                          .size = whole > 0 ? whole : character,
                          .before = index - 1,
                          .behind = index + 1,
                          .whole = whole > 0});
      begin += symbols_.back().size;
    }
    if (!symbols_.empty()) symbols_.back().behind = kNone;
    for (int64_t i = 1; i < std::ssize(symbols_); ++i) consider(i - 1, i);
  }

  void run(const std::function<bool()>& drops) {
    while (!agenda_.empty()) {
      const auto best = agenda_.top();
      agenda_.pop();
      if (at(best.left).size + at(best.right).size != best.size || at(best.right).size == 0 ||
          at(best.left).size == 0 || drops())
        continue;
      merge(best.left, best.right);
    }
  }

  std::vector<int32_t> ids() const {
    std::vector<int32_t> all;
    for (int64_t i = symbols_.empty() ? kNone : 0; i != kNone; i = at(i).behind)
      add(text_.substr(at(i).begin, at(i).size), all);
    return all;
  }

 private:
  static constexpr int64_t kNone = -1;
  /// A part of the text between its neighbours; of size 0 once it is merged into the one before.
  struct Symbol {
    size_t begin, size;
    int64_t before, behind;
    bool whole;  // one of the user's, never merged
  };
  struct Pair {
    float score;
    int64_t left, right;
    size_t size;  // of both when they were considered
    bool operator<(const Pair& other) const {
      return score != other.score ? score < other.score : left > other.left;
    }
  };

  Symbol& at(int64_t index) { return symbols_[static_cast<size_t>(index)]; }
  const Symbol& at(int64_t index) const { return symbols_[static_cast<size_t>(index)]; }

  void consider(int64_t left, int64_t right) {
    if (left == kNone || right == kNone || at(left).whole || at(right).whole) return;
    const size_t size = at(left).size + at(right).size;
    const auto piece = sampler_.pieces_.find(text_.substr(at(left).begin, size));
    if (piece == sampler_.pieces_.end()) return;
    agenda_.push({piece->second.score, left, right, size});
    if (piece->second.unused) parts_[piece->first] = at(left).size;
  }

  /// Adds the ids of one symbol: of an unused piece those of its parts, of an unknown one its
  /// bytes. Without bytes, consecutive unknown ones are one.
  void add(const std::string& text, std::vector<int32_t>& all) const {
    const auto piece = sampler_.pieces_.find(text);
    const bool known = piece != sampler_.pieces_.end();
    if (const auto part = parts_.find(text);
        known && piece->second.unused && part != parts_.end()) {
      add(text.substr(0, part->second), all);
      add(text.substr(part->second), all);
      return;
    }
    const auto id = known ? piece->second.id : kUnk;
    if (id == kUnk && !sampler_.bytes_.empty())
      for (const char byte : text) all.push_back(sampler_.bytes_[static_cast<unsigned char>(byte)]);
    else if (id != kUnk || all.empty() || all.back() != kUnk)
      all.push_back(id);
  }

  void merge(int64_t left, int64_t right) {
    at(left).size += at(right).size;
    at(right).size = 0;
    at(left).behind = at(right).behind;
    if (at(left).behind != kNone) at(at(left).behind).before = left;
    consider(at(left).before, left);
    consider(left, at(left).behind);
  }

  const BpeSampler& sampler_;
  std::string text_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Pair> agenda_;
  std::unordered_map<std::string, size_t> parts_;  // of a piece not in use: bytes of its left part
};

BpeSampler::BpeSampler(Tokenizer tokenizer) : tokenizer_(std::move(tokenizer)) {
  if (!tokenizer_.merges())
    throw TokenizerError("tokenizer.dropout needs a tokenizer whose kind is bpe");
  const auto model = read_piece_model(tokenizer_.file());
  const auto type_of = [&](int32_t id) {
    const auto theirs = tokenizer_.ids().theirs(id);
    const bool known = theirs && *theirs < std::ssize(model.pieces);
    return known ? model.pieces[static_cast<size_t>(*theirs)].type : PieceType::control;
  };
  for (int32_t id = 0; id < tokenizer_.vocabulary_size(); ++id) {
    const auto type = type_of(id);
    auto text = tokenizer_.token(id);
    if (type == PieceType::user_defined) user_symbols_.insert(text);
    if (is_written(type))
      pieces_[std::move(text)] = {
          .id = id, .score = tokenizer_.score(id), .unused = type == PieceType::unused};
  }
  for (int32_t id = 0; id < tokenizer_.vocabulary_size(); ++id) {
    if (type_of(id) != PieceType::byte) continue;
    const auto text = tokenizer_.token(id);
    bytes_.resize(256);
    bytes_.at(byte_of(text)) = id;
    // Text spelled like the name of a byte is read as the byte.
    const auto piece = pieces_.find(text);
    if (piece != pieces_.end()) piece->second = {id, piece->second.score, false};
  }
}

size_t BpeSampler::user_symbol(std::string_view text) const {
  // A prefix of `text` is not greater than it and has its first byte.
  for (auto symbol = user_symbols_.upper_bound(text); symbol != user_symbols_.begin();) {
    --symbol;
    if (symbol->front() != text.front()) return 0;
    if (text.starts_with(*symbol)) return symbol->size();
  }
  return 0;
}

std::vector<int32_t> BpeSampler::encode(std::string_view line,
                                        const std::function<bool()>& drops) const {
  Merging merging(*this, tokenizer_.normalized(line));
  merging.run(drops);
  return merging.ids();
}

}  // namespace ablate::tokenizer
