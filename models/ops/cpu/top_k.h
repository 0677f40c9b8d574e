#pragma once

#include "models/ops/top_k.h"

namespace ablate::models::ops::cpu {

/// The operations of ops/top_k.h on contiguous float rows, in one pass over each; of equal scores
/// the first comes first.
SoftmaxTopK softmax_top_k(const torch::Tensor& scores, int64_t k);
TopK log_softmax_top_k(const torch::Tensor& logits, int64_t k);

}  // namespace ablate::models::ops::cpu
