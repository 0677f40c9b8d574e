#pragma once

#include "models/ops/attention.h"

namespace ablate::models::ops::cpu {

/// Longest sequence for which this beats SDPA's flash path on a CPU (bench/README.md).
inline constexpr int64_t kLongestPacked = 128;

/// Attention that reads heads where the projections left them and keeps its probabilities for the
/// gradient. REQUIRES: no groups, no content scheme. A query that may attend to no key gives zeros.
/// // [B, T, HW]
torch::Tensor packed_attention(const AttentionInput& input);

}  // namespace ablate::models::ops::cpu
