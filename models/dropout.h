#pragma once

#include "models/libtorch.h"
#include "models/ops/dropout.h"

namespace ablate::models {

/// Dropout of one forward pass, passed down to every place that drops. Each place draws from its
/// own numbered stream, so a pass is a pure function of `seed`. The default is a pass that does not
/// train: nothing is dropped and nothing learned on the way.
class Dropout {
 public:
  Dropout() = default;
  Dropout(double rate, uint64_t seed) : trains_(true), rate_(rate), seed_(seed) {}

  bool trains() const { return trains_; }
  double rate() const { return rate_; }
  /// The stream of the next place that drops.
  ops::DropoutStream next();

 private:
  bool trains_ = false;
  double rate_ = 0;
  uint64_t seed_ = 0;
  uint64_t streams_ = 0;
};

/// Whether an operation may run as one of our CPU kernels: it records a gradient, holds float or
/// bfloat16, and is not being traced. Otherwise the same formula runs as ATen operations.
bool runs_as_kernel(const torch::Tensor& x);

/// x with elements dropped and the kept ones scaled by 1 / (1 - rate). // [..., D] -> [..., D]
torch::Tensor drop(const torch::Tensor& x, Dropout& dropout);

}  // namespace ablate::models
