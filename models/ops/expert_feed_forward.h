#pragma once

#include "models/ops/elementwise.h"
#include "models/ops/linear.h"

namespace ablate::models::ops {

// N positions, k slots: choices of one position, E experts, F hidden width, D model width

/// The feed-forward layers of all experts; biases may be undefined.
struct Experts {
  torch::Tensor up, up_bias;      // [E, F, D], gated [E, 2F, D]: first the gates; [E, F or 2F]
  torch::Tensor down, down_bias;  // [E, F, D], [E, D]
  Activation activation;
  bool gated;
  torch::Tensor packed_up;  // a copy of `up` laid out for decoding; undefined: none

  /// The same experts with such a copy, if a back end uses one. REQUIRES: `up` does not change
  /// afterwards.
  Experts prepacked() const;
};

/// The experts that every position is sent to, and the weights of their outputs. A slot with expert
/// E is empty. // [N, k], [N, k]
struct ExpertChoice {
  torch::Tensor expert, weight;
};

/// Sum over a position's slots of weight * (down^T activation(up x + up_bias) + down_bias)
/// (Shazeer et al. 2017, equation 1), with dropout of the hidden layers (Fedus et al. 2021, section
/// 2.4, expert dropout). On CUDA the host waits for the ends of the experts' rows,
/// except in bfloat16 on compute capability 9 or 10 with D and F divisible by 8, and if all experts
/// are computed for every position because together they are small: 2 E F <= k D.
/// // [N, D] -> [N, D]
torch::Tensor expert_feed_forward(const torch::Tensor& x, const Experts& experts,
                                  const ExpertChoice& choice, const DropoutStream& stream = {});

/// Whether the device multiplies the rows of all experts at once, in this type and with these
/// widths, so that the host need not wait; on CUDA.
bool multiplies_groups(torch::ScalarType type, int64_t d_model, int64_t d_hidden);

/// activation(up x + up_bias) of every slot that is not empty, expert by expert. The host waits for
/// the ends of the experts' rows. // [N, D] -> [M, F]
torch::Tensor expert_hidden_layers(const torch::Tensor& x, const Experts& experts,
                                   const ExpertChoice& choice);

}  // namespace ablate::models::ops
