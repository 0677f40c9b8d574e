#pragma once

#include <functional>
#include <mutex>
#include <vector>

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

// T positions, D width

/// Rows that are functions of their numbers, computed on a CPU and kept on devices on which
/// computing them costs launches. May be used by several threads at once.
class KeptTable {
 public:
  using Compute = std::function<torch::Tensor(const torch::Tensor&)>;  // [T] -> [T, ...]

  /// compute(numbers), or on a device that is no CPU the same in float. REQUIRES: numbers are from
  /// 0 up to below `length`, and `compute` is always the same. // [T] -> [T, ...]
  torch::Tensor rows(const torch::Tensor& numbers, int64_t length, const Compute& compute);

 private:
  std::mutex mutex_;
  // The last one is read; a CUDA graph may still read those before it. // [at least length, ...]
  std::vector<torch::Tensor> tables_;
};

// T positions, H heads, K head width, R rotated pairs

/// Angles by which the first 2R dimensions of every query and key are rotated (Su et al. 2021);
/// undefined tensors: no rotation.
struct Rotation {
  torch::Tensor cosine, sine;  // [T, R]
  bool interleaved = false;    // dimensions 2i and 2i + 1 are a pair; otherwise i and i + R
};

/// x turned, computed in float or wider. // [B, H, T, K] -> [B, H, T, K]
torch::Tensor rotate(const torch::Tensor& x, const Rotation& rotation);

}  // namespace ablate::models::ops
