#pragma once

#include <optional>

#include "data/masking.h"
#include "data/running_text.h"

namespace ablate::data {

/// What training does anew to its examples, as a function of seed and position: the tokens that
/// every batch hides, and where every epoch cuts running text into blocks.
struct Augmentation {
  std::optional<Masking> masking = {};
  std::optional<Chunking> chunking = {};  // of the examples; their offset is drawn for each epoch
};

}  // namespace ablate::data
