#pragma once

#include <cstdint>
#include <span>

#include "models/inference/hypothesis.h"
#include "models/libtorch.h"
#include "models/ops/top_k.h"

namespace ablate::models {

/// The likeliest tokens of every row after the processors, with their log-probabilities in double,
/// on the CPU: `count` of them without padding and `bos`, or all there are. // [R, V]
ops::TopK top_tokens(const torch::Tensor& logits, const LogitsProcessors& processors,
                     std::span<const RowContext> rows, int64_t count);

/// Extends every open hypothesis by its best tokens and keeps the best `beam` of each state; of
/// equal ones those of the better parent come first. REQUIRES: 2 * beam tokens of every row without
/// padding and `bos`, or all there are. A hypothesis that no token may follow ends. Throws
/// NotFinite.
NextRows beam_step(std::span<BeamState> states, const ops::TopK& top, const SearchRules& rules);

}  // namespace ablate::models
