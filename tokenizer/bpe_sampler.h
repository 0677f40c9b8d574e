#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace ablate::tokenizer {

/// BPE-dropout (Provilkov et al. 2020, algorithm 1): text is written with merges left out at
/// random, as SentencePiece's sampling does it, but from the caller's random numbers.
class BpeSampler {
 public:
  /// Throws TokenizerError if the tokenizer's kind is not bpe.
  explicit BpeSampler(Tokenizer tokenizer);

  /// Ids without start and end tokens. `drops` is called for every merge that could be made next
  /// and decides whether it is left out; if it never does, the ids are those of Tokenizer::encode.
  std::vector<int32_t> encode(std::string_view line, const std::function<bool()>& drops) const;

 private:
  struct Piece {
    int32_t id;
    float score;  // pieces that were learned earlier have higher ones
    bool unused;  // replaced by the pieces that it is merged from
  };
  class Merging;

  /// Bytes of the longest user-defined symbol that `text` begins with; 0 if there is none.
  size_t user_symbol(std::string_view text) const;

  Tokenizer tokenizer_;
  std::unordered_map<std::string, Piece> pieces_;
  std::set<std::string, std::less<>> user_symbols_;
  std::vector<int32_t> bytes_;  // the ids of all bytes, if unknown text is written in them
};

}  // namespace ablate::tokenizer
