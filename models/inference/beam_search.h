#pragma once

#include <span>

#include "models/inference/hypothesis.h"
#include "models/inference/logits_processor.h"
#include "models/ops/top_k.h"

namespace ablate::models {

/// The likeliest tokens of every row after the processors, with their log-probabilities in double,
/// on the CPU: `count` of them beside padding and `bos`, or as many as there are. // [R, V]
ops::TopK top_tokens(const torch::Tensor& logits, const LogitsProcessors& processors,
                     std::span<const RowContext> rows, int64_t count);

/// Extends every open hypothesis by its best tokens and keeps the best `beam` of each state; of
/// equal ones those of the better parent come first. REQUIRES: 2 * beam tokens of every row
/// beside padding and `bos`, or as many as there are. A hypothesis that nothing may follow ends.
/// Throws NotFinite.
NextRows beam_step(std::span<BeamState> states, const ops::TopK& top, const SearchRules& rules);

}  // namespace ablate::models
