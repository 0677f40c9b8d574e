#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "data/masking.h"
#include "data/running_text.h"

namespace ablate::data {

/// What training does anew to its examples, as a function of seed and position: the tokens that
/// every batch hides, where every epoch cuts running text into blocks, and the tokens in which it
/// writes them.
struct Augmentation {
  std::optional<Masking> masking = {};
  std::optional<Chunking> chunking = {};  // of the examples; their offset is drawn for each epoch
  /// The examples of an epoch, where every epoch writes them in other tokens; empty: those given.
  std::function<std::vector<EncodedExample>(int64_t epoch)> rewritten = {};
};

}  // namespace ablate::data
