#pragma once

#include "models/ops/positions.h"
#include "models/position/position.h"

namespace ablate::models {

/// Rotary position embedding (Su et al. 2021) with the usual ways to serve longer inputs.
class RotaryPosition : public Position {
 public:
  /// For `id_range` see PositionContext.
  RotaryPosition(const Rotary& options, int64_t d_k, int64_t id_range = 0);
  ops::Rotation rotation(const torch::Tensor& positions, int64_t length) override;

 private:
  RotaryLayout layout_;
  int64_t id_range_;
  std::vector<double> rates_;  // angle per position of every pair // [R]
  double scale_ = 1.0;         // of turned queries and keys
  ops::KeptTable table_;
};

}  // namespace ablate::models
