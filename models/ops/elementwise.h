#pragma once

#include "models/libtorch.h"
#include "models/noise.h"

namespace ablate::models::ops {

/// float or wider, for sums that must not be rounded to bfloat16.
torch::ScalarType wide_type(const torch::Tensor& x);

/// x in that type.
torch::Tensor wide(const torch::Tensor& x);

/// The elements that one dropout drops: a function of the seed. A rate of 0 drops none.
struct DropoutStream {
  double rate = 0;  // share of the elements that is dropped, in [0, 1)
  Noise noise = {};
};

/// The same choice on a CPU.
DropoutMask mask_of(const DropoutStream& stream);

/// x with the elements that `stream` drops set to 0 and the others multiplied by 1 / (1 - rate)
/// (Srivastava et al. 2014). The mask is a function of the seed and of x's shape, device and
/// element type, the same for float and bfloat16. Throws c10::Error if a second derivative is
/// requested. // [..., D] -> [..., D]
torch::Tensor dropout(const torch::Tensor& x, const DropoutStream& stream);

/// x + dropout(branch). // [..., D], [..., D] -> [..., D]
torch::Tensor add_dropout(const torch::Tensor& x, const torch::Tensor& branch,
                          const DropoutStream& stream);

/// Layer normalisation (Ba et al. 2016) of the last dimension D. // [D], [D] or undefined
struct LayerNorm {
  torch::Tensor weight, bias;
  double epsilon;
};

/// norm(x + dropout(branch)): a sub-layer's output joins the residual stream, which is normalised.
/// // [..., D], [..., D] -> [..., D]
torch::Tensor add_norm(const torch::Tensor& x, const torch::Tensor& branch, const LayerNorm& norm,
                       const DropoutStream& stream);

}  // namespace ablate::models::ops
