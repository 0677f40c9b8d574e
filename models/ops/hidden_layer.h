#pragma once

#include "models/dense_options.h"
#include "models/libtorch.h"

namespace ablate::models::ops {

/// A feed-forward's hidden layer from its products: activation(x), or gated, with the gates in the
/// first half, activation(gate) * up (Shazeer 2020). // [..., F], gated [..., 2F] -> [..., F]
torch::Tensor hidden_layer(const torch::Tensor& products, Activation activation, bool gated);

}  // namespace ablate::models::ops
