#pragma once

#include <cstdint>
#include <span>

#include "models/inference/hypothesis.h"
#include "models/libtorch.h"

namespace ablate::models {

/// Inverse transform sampling: the token of a uniform number in
/// [0, 1), with the likeliest tokens first, by the probabilities after temperature, top-k (Fan et
/// al. 2018) and top-p (Holtzman et al. 2020), both of which keep at least the likeliest token.
/// REQUIRES: a token that is possible, and no NaN. // [V]
int64_t sample_token(std::span<const double> log_probability, const RandomSampling& sampling,
                     double uniform);

/// Draws the next token of every open hypothesis; a state that has not begun opens n_best of them.
/// Each hypothesis has its own random numbers, which do not depend on the batch; it ends if no
/// token may follow. Throws NotFinite. // [R, V]
NextRows sample_step(std::span<BeamState> states, const torch::Tensor& log_probability,
                     const SearchRules& rules);

}  // namespace ablate::models
