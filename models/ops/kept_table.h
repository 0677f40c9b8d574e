#pragma once

#include <functional>
#include <mutex>

#include "models/libtorch.h"

namespace ablate::models::ops {

// T positions, D width

/// Rows that are functions of their numbers, kept where computing them would cost launches. May be
/// used by several threads at once.
class KeptTable {
 public:
  using Compute = std::function<torch::Tensor(const torch::Tensor&)>;  // [T] -> [T, D]

  /// compute(numbers), or on a device that is no CPU the same in float. REQUIRES: numbers are from
  /// 0 up to below `length`, and `compute` is always the same. // [T] -> [T, D]
  torch::Tensor rows(const torch::Tensor& numbers, int64_t length, const Compute& compute);

 private:
  std::mutex mutex_;
  torch::Tensor table_;  // [at least length, D]
};

}  // namespace ablate::models::ops
