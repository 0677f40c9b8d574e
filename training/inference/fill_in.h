#pragma once

#include "training/inference/translator.h"

namespace ablate::training {

struct FillOptions {
  int64_t length;  // most tokens of an output
  std::optional<int64_t>
      passes;  // over the sequence, each of which fills an equal part; nullopt: one a token
  models::SamplingOptions sampling;
  int64_t first_line = 0;  // number of the first prompt, which seeds sampling
};

/// Continues every prompt with a masked diffusion model: behind the prompt, whose end is read if it
/// fills more than half of a block, stand masks up to the end of the block or of `length` tokens. A
/// pass fills those whose likeliest tokens are the likeliest, or with sampling places drawn evenly
/// with drawn tokens, as the reverse of the diffusion is (Sahoo et al. 2024, section 3.2.3).
/// REQUIRES: format.fills_masks().
std::vector<std::vector<Translation>> fill_in(const Translator& translator,
                                              std::span<const std::string> prompts,
                                              const FillOptions& options);

}  // namespace ablate::training
