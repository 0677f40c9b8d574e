#pragma once

#include "models/ops/attention.h"

namespace ablate::models::ops::cpu {

/// Whether `single_query_attention` can take this.
bool serves_single_query(const AttentionInput& input);

/// Attention of one query for each sequence over the positions of `cache`, of which nothing is
/// copied. A query that may attend to no key gives zeros. // [B, H, 1, K] -> [B, 1, HW]
torch::Tensor single_query_attention(const torch::Tensor& query, const KVCache& cache,
                                     const AttentionInput& input);

}  // namespace ablate::models::ops::cpu
