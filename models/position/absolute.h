#pragma once

#include "models/ops/positions.h"
#include "models/position/position.h"

namespace ablate::models {

/// Vectors of the numbers `positions`, of any sign, in double. // [N] -> [N, width]
torch::Tensor sinusoidal(const torch::Tensor& positions, const Sinusoidal& options, int64_t width);

/// Sines and cosines computed for the positions asked for; there is no table to outgrow.
class SinusoidalPosition : public Position {
 public:
  SinusoidalPosition(const Sinusoidal& options, const PositionContext& context);
  torch::Tensor embedding(const torch::Tensor& positions, int64_t length) override;
  bool every_layer() const override { return options_.every_layer; }

 private:
  Sinusoidal options_;
  int64_t d_model_;
  int64_t id_range_;  // see PositionContext
  ops::KeptTable table_;
};

/// A trained table with one row for each position.
class LearnedPosition : public Position {
 public:
  LearnedPosition(const Learned& options, const PositionContext& context);
  torch::Tensor embedding(const torch::Tensor& positions, int64_t length) override;
  torch::Tensor row_embedding(const torch::Tensor& positions,
                              const torch::Tensor& padding_mask) override;
  bool every_layer() const override { return options_.every_layer; }
  void check(int64_t length) const override;

 private:
  /// The vectors of positions in a sequence whose last one is `longest`, which decides, so that an
  /// input that fits is left as it is. // [..., T], [...] -> [..., T, D]
  torch::Tensor interpolated(const torch::Tensor& positions, const torch::Tensor& longest) const;

  Learned options_;
  torch::Tensor table_;  // [max_length, D]
};

}  // namespace ablate::models
