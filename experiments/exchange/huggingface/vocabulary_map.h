#pragma once

#include <cstdint>
#include <vector>

#include "experiments/exchange/huggingface/family.h"

namespace ablate::exchange {

/// The order of a foreign vocabulary among our ids, which begin with the special tokens
/// (tokenizer/special_tokens.h): every foreign id stands once among the ids that are written, and
/// those that a model does not have, or has twice, are never written.
struct VocabularyMap {
  static constexpr int64_t kNone = -1;
  std::vector<int64_t> foreign;  // of each of our ids; kNone: the model has no such token
  std::vector<bool> written;     // whether the model's output of this id counts

  int64_t size() const { return static_cast<int64_t>(foreign.size()); }
  /// Whether the output of some id has to be suppressed.
  bool suppresses() const;
};

/// Throws CheckpointError if a special id is not one of the `vocabulary`.
VocabularyMap map_vocabulary(const SpecialIds& special, int64_t vocabulary);

}  // namespace ablate::exchange
