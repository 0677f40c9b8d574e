#pragma once

#include <cstdint>
#include <optional>

#include "experiments/records/folders.h"

namespace ablate::records {

/// How a run that pauses after a step does on the validation set: rung-<step>.json in its folder.
struct RungScore {
  double validation_perplexity = 0;
  double validation_token_accuracy = 0;

  static void fields(auto& o, auto&& visit) {
    visit("validation_perplexity", o.validation_perplexity);
    visit("validation_token_accuracy", o.validation_token_accuracy);
  }
};

/// Throws IoError.
void write_rung(const RunFolder& run, int64_t step, const RungScore& score);

/// Nothing where the run has not paused there. Throws CheckpointError where the file is damaged, as
/// without it another value might be chosen, and IoError.
std::optional<RungScore> read_rung(const RunFolder& run, int64_t step);

}  // namespace ablate::records
