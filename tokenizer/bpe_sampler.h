#pragma once

#include <cstdint>
#include <functional>
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
  /// Throws TokenizerError where the tokenizer's kind is not bpe.
  explicit BpeSampler(Tokenizer tokenizer);

  /// Ids without start and end tokens. `drops` is asked for every merge that could be made next and
  /// says whether it is left out; where it never does, these are the ids of Tokenizer::encode.
  std::vector<int32_t> encode(std::string_view line, const std::function<bool()>& drops) const;

 private:
  struct Piece {
    int32_t id;
    float score;  // pieces that were learned earlier have higher ones
  };
  class Merging;

  Tokenizer tokenizer_;
  std::unordered_map<std::string, Piece> pieces_;
};

}  // namespace ablate::tokenizer
