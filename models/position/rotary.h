#pragma once

#include "models/position/position.h"

namespace ablate::models {

/// Rotary position embedding (Su et al. 2021) with the usual ways to serve longer inputs.
class RotaryPosition : public Position {
 public:
  RotaryPosition(const Rotary& options, int64_t d_k);
  ops::Rotation rotation(const torch::Tensor& positions) override;

 private:
  RotaryLayout layout_;
  std::vector<double> rates_;  // angle per position of every pair // [R]
  double scale_ = 1.0;         // of turned queries and keys
};

}  // namespace ablate::models
