#pragma once

#include "models/ops/expert_feed_forward.h"

namespace ablate::models::ops::cpu {

/// Model widths that the kernel takes are multiples of this.
inline constexpr int64_t kMixWidth = 16;

/// The first matrices as `mix_experts` reads them fastest; undefined where F does not allow it.
torch::Tensor pack_experts(const torch::Tensor& up);  // [E, F, D]

/// ops::expert_feed_forward of contiguous float x, without a gradient and without sorting.
torch::Tensor mix_experts(const torch::Tensor& x, const Experts& experts,
                          const ExpertChoice& choice);

}  // namespace ablate::models::ops::cpu
