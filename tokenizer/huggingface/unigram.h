#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tokenizer/huggingface/node.h"
#include "tokenizer/huggingface/trie.h"
#include "tokenizer/huggingface/vocabulary.h"

namespace ablate::tokenizer::huggingface {

/// A unigram language model (Kudo 2018): the division of a text with the highest sum of scores.
class Unigram {
 public:
  explicit Unigram(const Node& node);

  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// Appends the ids of a text, and the text of each unknown token among them to `hidden`, which
  /// may be null.
  void encode(std::string_view text, std::vector<int32_t>& ids, Hidden* hidden = nullptr) const;
  std::optional<int32_t> unknown_id() const { return unknown_; }

 private:
  struct Best;  // the best division of the text up to a place

  std::vector<Best> best_divisions(std::string_view text) const;

  std::vector<double> scores_;
  Vocabulary vocabulary_;
  double unknown_score_ = 0;
  Trie trie_;
  int32_t unknown_ = 0;
  ByteFallback fallback_;
};

}  // namespace ablate::tokenizer::huggingface
