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

// Indices by operations that a trace records for any length.

/// 0, 1, 2, ... in the length of x. // [M] -> [M]
torch::Tensor indices_of(const torch::Tensor& x);

/// The indices after `past`, which are 0, 1, 2, ..., as many as x is long. // [P], [M] -> [M]
torch::Tensor indices_behind(const torch::Tensor& past, const torch::Tensor& x);

/// The inverse of a permutation. // [M] -> [M]
torch::Tensor inverse_permutation(const torch::Tensor& order);

/// How many of x are 0, 1, ..., count - 1. // [M] -> [count]
torch::Tensor bin_counts(const torch::Tensor& x, int64_t count);

}  // namespace ablate::models::ops
