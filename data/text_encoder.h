#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizers.h"
#include "tokenizer/bpe_sampler.h"

namespace ablate::data {

/// The ids of one side of the example with this index.
using TextEncoder = std::function<std::vector<int32_t>(size_t index, std::string_view text)>;

/// One for each side.
struct TextEncoders {
  TextEncoder source, target;
};

/// What the tokenizers make of every text, and the number of a class, wherever it stands; an
/// unknown class throws DataError. REQUIRES: the tokenizers outlive it.
TextEncoders encoders_of(const Tokenizers& tokenizers);

/// BPE-dropout (Provilkov et al. 2020): merges of training text are left out at random, anew in
/// every epoch, as a function of seed, epoch, side and index alone.
class DroppedMerges {
 public:
  struct Options {
    double share;  // of the merges, in [0, 1)
    uint64_t seed;
  };
  /// Classes have no merges and are numbered as ever. Throws TokenizerError where the tokenizer of
  /// a side of text has none.
  DroppedMerges(const Tokenizers& tokenizers, Options options);

  /// REQUIRES: this outlives the encoders.
  TextEncoders encoders(int64_t epoch) const;

 private:
  TextEncoder side(const tokenizer::BpeSampler& sampler, const std::string& purpose) const;

  Options options_;
  Tokenizers tokenizers_;
  tokenizer::BpeSampler source_;
  std::optional<tokenizer::BpeSampler> target_;
};

}  // namespace ablate::data
