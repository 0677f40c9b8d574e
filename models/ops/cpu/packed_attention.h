#pragma once

#include "models/ops/attention.h"

namespace ablate::models::ops::cpu {

/// Whether `packed_attention` can take this, and is faster than SDPA.
bool serves_packed(const AttentionInput& input);

/// Attention that reads heads where the projections left them and keeps its probabilities for the
/// gradient. A query that may attend to no key gives zeros. REQUIRES: serves_packed(input)
/// // [B, T, HW]
torch::Tensor packed_attention(const AttentionInput& input);

}  // namespace ablate::models::ops::cpu
