#pragma once

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
  void save_to(Tensors& optimizer) const;
  /// Copies saved averages in, as load_tensors does.
  void load(const Weights& saved);

 private:
  Weights followed_;  // the model's own
  Weights averages_;
  double decay_;
};

/// Takes the averages out of a checkpoint's optimizer tensors, written by this version or by one
/// that called them "shadow". Empty where there are none.
Weights extract_ema(Tensors& optimizer);

}  // namespace ablate::training
