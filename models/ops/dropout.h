#pragma once

#include "models/dropout_mask.h"
#include "models/libtorch.h"

namespace ablate::models::ops {

/// Which elements one dropout drops: a function of the seed alone. A rate of 0 drops nothing.
struct DropoutStream {
  double rate = 0;  // share of the elements that is dropped, in [0, 1)
  uint64_t seed = 0;
};

/// The same choice as it is taken on a CPU.
DropoutMask mask_of(const DropoutStream& stream);

/// x with the elements that `stream` drops set to 0 and the others multiplied by 1 / (1 - rate)
/// (Srivastava et al. 2014). The mask is a function of the seed and of x's shape, device and
/// element type, the same for float and bfloat16. Throws c10::Error where a second derivative is
/// asked for.
/// // [..., D] -> [..., D]
torch::Tensor dropout(const torch::Tensor& x, const DropoutStream& stream);

/// x + dropout(branch). // [..., D], [..., D] -> [..., D]
torch::Tensor add_dropout(const torch::Tensor& x, const torch::Tensor& branch,
                          const DropoutStream& stream);

}  // namespace ablate::models::ops
