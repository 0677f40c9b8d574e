#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/huggingface/node.h"
#include "tokenizer/huggingface/vocabulary.h"

namespace ablate::tokenizer::huggingface {

/// WordPiece (Schuster & Nakajima 2012), as BERT uses it: the longest known part of a word from
/// left to right, or the unknown token for the whole word.
class WordPiece {
 public:
  explicit WordPiece(const Node& node);

  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// Appends the ids of a word, and the word to `hidden`, which may be null, if it is unknown.
  void encode(std::string_view word, std::vector<int32_t>& ids, Hidden* hidden = nullptr) const;
  std::optional<int32_t> unknown_id() const { return unknown_; }

 private:
  /// Appends the ids of the parts of a word; false if one of them is unknown.
  bool divide(std::string_view word, std::vector<int32_t>& ids) const;

  Vocabulary vocabulary_;
  int32_t unknown_;
  std::string prefix_;  // of parts within a word
  int64_t longest_;     // characters of a word that is not unknown
};

/// Whole words, and one token for all others.
class WordLevel {
 public:
  explicit WordLevel(const Node& node);

  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// Appends the id of a word, and the word to `hidden`, which may be null, if it is unknown.
  void encode(std::string_view word, std::vector<int32_t>& ids, Hidden* hidden = nullptr) const;
  std::optional<int32_t> unknown_id() const { return unknown_; }

 private:
  Vocabulary vocabulary_;
  int32_t unknown_;
};

}  // namespace ablate::tokenizer::huggingface
