#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizer/huggingface/node.h"
#include "tokenizer/huggingface/vocabulary.h"

namespace ablate::tokenizer::huggingface {

/// Byte-pair encoding (Sennrich et al. 2016): characters merged by ranked rules.
class Bpe {
 public:
  explicit Bpe(const Node& node);

  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// Appends the ids of a word, and the text of each unknown token among them to `hidden`, which
  /// may be null. Throws TokenizerError if it needs an unknown token that the model lacks.
  void encode(std::string_view word, std::vector<int32_t>& ids, Hidden* hidden = nullptr) const;
  /// The unknown token, if there is one.
  std::optional<int32_t> unknown_id() const;

 private:
  struct Merge {
    uint32_t rank;
    int32_t id;
  };
  class Merging;

  void read_merges(const Node& merges);
  void add_merge(const std::string& left, const std::string& right, uint32_t rank,
                 const Node& place);
  const Merge* merge(int32_t left, int32_t right) const;
  int32_t unknown() const;
  void hide(std::string_view word, size_t begin, size_t end, Hidden& hidden) const;
  std::vector<int32_t> symbols(std::string_view word, Hidden* hidden) const;

  Vocabulary vocabulary_;
  std::unordered_map<uint64_t, Merge> merges_;  // of a left and a right id
  std::optional<std::string> unknown_;
  std::string prefix_, suffix_;  // of characters within a word, and of its last one
  ByteFallback fallback_;
  bool fuses_unknown_ = false, whole_words_ = false;
};

}  // namespace ablate::tokenizer::huggingface
