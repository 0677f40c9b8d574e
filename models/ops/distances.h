#pragma once

#include "models/libtorch.h"

namespace ablate::models::ops {

// T queries, S keys, U distances

/// Distances, those of all pairs among them, and the place of each pair's own.
struct Distances {
  torch::Tensor values, which;  // [U], [T, S]
};

/// query - key of positions that follow on each other, or, unless it is 0, are any below
/// `id_range`.
/// // [T], [S]
Distances distances(const torch::Tensor& query, const torch::Tensor& key, int64_t id_range);

}  // namespace ablate::models::ops
