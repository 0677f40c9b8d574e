#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "experiments/records/folders.h"

namespace ablate::records {

/// How a run that pauses after a step does on the validation set: rung-<step>.json in its folder.
struct RungScore {
  double validation_perplexity = 0;
  double validation_token_accuracy = 0;
  std::string run;   // task/arm/seed-<seed>; set when it is written
  int64_t step = 0;  // set when it is written

  static void fields(auto& o, auto&& visit) {
    visit("run", o.run);
    visit("step", o.step);
    visit("validation_perplexity", o.validation_perplexity);
    visit("validation_token_accuracy", o.validation_token_accuracy);
  }
};

/// Throws IoError.
void write_rung(const RunFolder& run, int64_t step, RungScore score);

/// Nothing where the run has not paused there. Throws CheckpointError where the file is damaged or
/// that of another run or step, as another value might be chosen for it, and IoError.
std::optional<RungScore> read_rung(const RunFolder& run, int64_t step);

}  // namespace ablate::records
