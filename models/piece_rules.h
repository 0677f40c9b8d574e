#pragma once

#include <limits>
#include <span>

#include "models/libtorch.h"
#include "models/search_options.h"

namespace ablate::models {

// R rows, V vocabulary

/// The log-probability of what is forbidden.
inline constexpr double kImpossible = -std::numeric_limits<double>::infinity();

/// Log-probabilities of every row's next piece, -inf where the options or a prefix forbid it.
/// Padding and start marks are no pieces of an output; what is forbidden keeps its share of the
/// probability, so scores stay those of the model (but for the repetition penalty, which changes
/// logits). In float or wider. // [R, V] -> [R, V]
torch::Tensor permitted(const torch::Tensor& logits, std::span<const Written> rows,
                        const SearchOptions& options);

/// A piece drawn from a row of log-probabilities by options.sampling, for a number in [0, 1).
int64_t drawn(const torch::Tensor& log_probability, const Sampling& sampling, double uniform);

}  // namespace ablate::models
