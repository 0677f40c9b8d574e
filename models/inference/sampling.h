#pragma once

#include <span>
#include <vector>

#include "models/inference/hypothesis.h"
#include "models/libtorch.h"

namespace ablate::models {

/// The token that a uniform number of [0, 1) stands for when the likeliest come first: drawn from
/// the probabilities after temperature, top-k (Fan et al. 2018) and top-p (Holtzman et al. 2020),
/// both of which leave at least the likeliest. REQUIRES: a token that is possible, and no NaN. //
/// [V]
int64_t sample_token(std::span<const double> log_probability, const RandomSampling& sampling,
                     double uniform);

/// Draws the next token of every open hypothesis; a state that has not begun opens n_best of them.
/// Each hypothesis has random numbers of its own, whatever the batch; one that nothing may follow
/// ends. Throws NotFinite. // [R, V]
NextRows sample_step(std::span<BeamState> states, const torch::Tensor& log_probability,
                     const SearchRules& rules);

}  // namespace ablate::models
