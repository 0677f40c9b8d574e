#pragma once

#include <utility>
#include <vector>

#include "training/weights.h"

namespace ablate::training {

/// Exponential moving average of a model's weights (Polyak & Juditsky 1992, with a decay):
/// ema = decay ema + (1 - decay) weights. Whole numbers are taken over.
class Ema {
 public:
  /// Starts from the model's weights of this moment.
  Ema(const torch::nn::Module& model, double decay);

  /// Takes the model's present weights into the average.
  void update();
  /// The averages by name; load_weights into a model, or save_to a checkpoint.
  const Weights& weights() const { return averages_; }
  /// Adds the averages to the tensors of a checkpoint's optimizer.
  void save_to(Weights& saved) const;
  /// Copies saved averages in. Throws c10::Error where one is missing or of another shape.
  void load(const Weights& saved);

 private:
  Weights averages_;
  std::vector<torch::Tensor> floating_, followed_;  // average and weight, index by index
  std::vector<std::pair<torch::Tensor, torch::Tensor>> whole_;  // the same, of whole numbers
  double decay_;
};

/// Takes the averages out of a checkpoint's optimizer tensors, written by this version or by one
/// that called them "shadow". Empty where there are none.
Weights extract_ema(Weights& optimizer);

}  // namespace ablate::training
