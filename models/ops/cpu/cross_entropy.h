#pragma once

#include "models/libtorch.h"

namespace ablate::models::ops::cpu {

/// Turns logits [N, V], float or bfloat16, into the gradient of their summed label-smoothed
/// cross-entropy, in place, and writes each row's loss and nll. // target [N], losses [2, N]
void cross_entropy_gradient(const torch::Tensor& logits, const torch::Tensor& target,
                            double smoothing, const torch::Tensor& losses);

}  // namespace ablate::models::ops::cpu
