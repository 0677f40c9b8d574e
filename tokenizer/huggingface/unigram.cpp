#include "tokenizer/huggingface/unigram.h"

#include <algorithm>
#include <limits>

#include "tokenizer/text/unicode.h"

namespace ablate::tokenizer::huggingface {
namespace {

constexpr double kUnknownPenalty = 10;

/// [[token, score], ...], in the order of their ids.
Vocabulary read_tokens(const Node& node, std::vector<double>& scores) {
  Vocabulary vocabulary;
  for (const auto& place : node.list()) {
    const auto pair = place.list();
    if (pair.size() != 2) place.refuse("must be a token and its score");
    vocabulary.add(pair[0].text(), std::ssize(scores), place);
    scores.push_back(pair[1].number());
  }
  if (scores.empty() || std::ssize(scores) > kLargestId)
    node.refuse("must have from 1 to " + std::to_string(kLargestId) + " tokens");
  return vocabulary;
}

Trie trie_of(const Vocabulary& vocabulary) {
  return Trie({vocabulary.ids().begin(), vocabulary.ids().end()});
}

}  // namespace

struct Unigram::Best {
  double score = 0;
  size_t begin = std::string_view::npos;  // of its last token
  int32_t id = 0;                         // of it

  void offer(double offered, size_t from, int32_t token) {
    if (begin != std::string_view::npos && offered <= score) return;
    *this = {offered, from, token};
  }
};

Unigram::Unigram(const Node& node)
    : vocabulary_(read_tokens(node.at("vocab"), scores_)), trie_(trie_of(vocabulary_)) {
  node.allow({"unk_id", "vocab", "byte_fallback"});
  unknown_ = static_cast<int32_t>(node.at("unk_id").count(std::ssize(scores_) - 1));
  unknown_score_ = *std::ranges::min_element(scores_) - kUnknownPenalty;
  if (node.flag("byte_fallback", false)) fallback_ = ByteFallback(vocabulary_);
}

std::vector<Unigram::Best> Unigram::best_divisions(std::string_view text) const {
  std::vector<Best> best(text.size() + 1);
  for (size_t begin = 0, next = 0; begin < text.size(); begin = next) {
    next_code_point(text, next);
    const auto so_far = best[begin].score;
    bool known = false;
    trie_.prefixes(text.substr(begin), [&](size_t length, int32_t id) {
      if (length == 0) return;
      best[begin + length].offer(so_far + scores_[static_cast<size_t>(id)], begin, id);
      known = known || begin + length == next;
    });
    if (!known) best[next].offer(so_far + unknown_score_, begin, unknown_);
  }
  return best;
}

// Unknown tokens that follow each other are one.
void Unigram::encode(std::string_view text, std::vector<int32_t>& ids, Hidden* hidden) const {
  const auto best = best_divisions(text);
  struct Token {
    size_t begin, end;
    int32_t id;
  };
  std::vector<Token> tokens;  // from the last to the first
  for (size_t end = text.size(); end > 0; end = best[end].begin) {
    const auto [score, begin, id] = best[end];
    if (id == unknown_ && !tokens.empty() && tokens.back().id == unknown_)
      tokens.back().begin = begin;
    else
      tokens.push_back({begin, end, id});
  }
  for (auto token = tokens.rbegin(); token != tokens.rend(); ++token) {
    const auto written = text.substr(token->begin, token->end - token->begin);
    if (token->id != unknown_)
      ids.push_back(token->id);
    else if (const auto id = vocabulary_.id(written))
      ids.push_back(*id);
    else if (!fallback_.write(written, ids))
      ids.push_back(unknown_);
    if (hidden != nullptr && ids.back() == unknown_) hidden->add(written);
  }
}

}  // namespace ablate::tokenizer::huggingface
