#pragma once

#include "models/ops/dropout.h"

namespace ablate::models::ops {

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
