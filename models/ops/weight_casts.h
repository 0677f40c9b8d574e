#pragma once

#include <unordered_map>
#include <vector>

#include "models/libtorch.h"

namespace ablate::models::ops {

/// Float weights in the element type of passes, cast together. On a GPU each cast by itself is a
/// launch, as is that of its gradient, and together they are two of five operators of a pass in
/// bfloat16. The numbers are those of separate casts, bit for bit. The newest one of a thread is
/// used.
class WeightCasts {
 public:
  /// REQUIRES: the weights are float and do not change while this exists.
  WeightCasts(std::vector<torch::Tensor> weights, torch::ScalarType type);
  ~WeightCasts();
  WeightCasts(const WeightCasts&) = delete;
  WeightCasts& operator=(const WeightCasts&) = delete;

  /// Adds the gradients of the backward pass since the last call to those of the weights.
  void add_gradients();

 private:
  friend torch::Tensor weight_in(const torch::Tensor& weight, torch::ScalarType type);
  /// The weight where a pass reads it: a leaf of its own, so that each use has its own gradient.
  struct Use {
    size_t weight;
    torch::Tensor cast;
  };
  torch::Tensor use(const torch::Tensor& weight);

  WeightCasts* outer_;
  std::vector<torch::Tensor> weights_, casts_;
  std::unordered_map<torch::TensorImpl*, size_t> index_;
  std::vector<Use> uses_;
};

/// weight.to(type), from the newest WeightCasts of this thread if one exists and has it.
torch::Tensor weight_in(const torch::Tensor& weight, torch::ScalarType type);

}  // namespace ablate::models::ops
