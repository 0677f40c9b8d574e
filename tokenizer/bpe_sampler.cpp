#include "tokenizer/bpe_sampler.h"

#include <algorithm>
#include <iterator>
#include <queue>
#include <utility>

#include "tokenizer/special_ids.h"

namespace ablate::tokenizer {
namespace {

/// Bytes of the UTF-8 character that starts with `lead`.
size_t character_size(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte < 0xc0) return 1;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

}  // namespace

/// The merges of one line.
class BpeSampler::Merging {
 public:
  Merging(const BpeSampler& sampler, std::string text) : sampler_(sampler), text_(std::move(text)) {
    for (size_t begin = 0; begin < text_.size();) {
      const auto size = std::min(character_size(text_[begin]), text_.size() - begin);
      const auto index = std::ssize(symbols_);
      symbols_.push_back({.begin = begin, .size = size, .before = index - 1, .behind = index + 1});
      begin += size;
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

  /// A run of unknown characters is one unknown token.
  std::vector<int32_t> ids() const {
    std::vector<int32_t> all;
    for (int64_t i = symbols_.empty() ? kNone : 0; i != kNone; i = at(i).behind) {
      const auto piece = sampler_.pieces_.find(text_.substr(at(i).begin, at(i).size));
      const auto id = piece == sampler_.pieces_.end() ? kUnk : piece->second.id;
      if (id != kUnk || all.empty() || all.back() != kUnk) all.push_back(id);
    }
    return all;
  }

 private:
  static constexpr int64_t kNone = -1;
  /// A part of the text between its neighbours; of size 0 once it is merged into the one before.
  struct Symbol {
    size_t begin, size;
    int64_t before, behind;
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
    if (left == kNone || right == kNone) return;
    const size_t size = at(left).size + at(right).size;
    const auto piece = sampler_.pieces_.find(text_.substr(at(left).begin, size));
    if (piece != sampler_.pieces_.end()) agenda_.push({piece->second.score, left, right, size});
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
};

BpeSampler::BpeSampler(Tokenizer tokenizer) : tokenizer_(std::move(tokenizer)) {
  if (!tokenizer_.merges())
    throw TokenizerError("tokenizer.dropout needs a tokenizer whose kind is bpe");
  for (int32_t id = kUnk + 1; id < tokenizer_.vocabulary_size(); ++id)
    if (auto text = tokenizer_.token(id); text != kMaskToken)
      pieces_.emplace(std::move(text), Piece{id, tokenizer_.score(id)});
}

std::vector<int32_t> BpeSampler::encode(std::string_view line,
                                        const std::function<bool()>& drops) const {
  Merging merging(*this, tokenizer_.normalized(line));
  merging.run(drops);
  return merging.ids();
}

}  // namespace ablate::tokenizer
