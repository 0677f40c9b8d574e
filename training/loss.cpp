#include "training/loss.h"

#include "models/ops/linear_cross_entropy.h"

namespace ablate::training {

Loss cross_entropy(const torch::Tensor& hidden, const torch::Tensor& output_weight,
                   const torch::Tensor& target, LossOptions options) {
  const auto sums =
      models::ops::linear_cross_entropy(hidden.flatten(0, 1), output_weight, target.flatten(),
                                        {.ignored = options.pad, .smoothing = options.smoothing});
  return {.sum = sums.loss, .nll = sums.nll};
}

}  // namespace ablate::training
