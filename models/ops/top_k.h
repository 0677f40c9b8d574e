#pragma once

#include "models/libtorch.h"

namespace ablate::models::ops {

// N rows, V scores of each

/// The k largest of every row, best first. // [N, k], [N, k]
struct TopK {
  torch::Tensor values, indices;
};

/// Softmax of scores and its k largest. // [N, V]
struct SoftmaxTopK {
  torch::Tensor probabilities;  // [N, V]
  TopK top;
};
SoftmaxTopK softmax_top_k(const torch::Tensor& scores, int64_t k);

/// The k largest of every row, values in double, on the CPU: one transfer from the device. // [N,
/// V]
TopK top_k(const torch::Tensor& scores, int64_t k);

/// The same of the log-softmax. // [N, V]
TopK log_softmax_top_k(const torch::Tensor& logits, int64_t k);

}  // namespace ablate::models::ops
