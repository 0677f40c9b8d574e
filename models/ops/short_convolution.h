#pragma once

#include "models/libtorch.h"

namespace ablate::models::ops {

/// A convolution of each channel by itself over windows of J positions: y_t is the sum of
/// weight_j * x_(t-j) over j, and of x_t if `adds_input`, for all positions but the first J - 1,
/// which are only read. It is computed in the element type of x. Throws c10::Error if a second
/// derivative is requested. // [B, J - 1 + T, C], [J, C] -> [B, T, C]
torch::Tensor short_convolution(const torch::Tensor& x, const torch::Tensor& weight,
                                bool adds_input);

}  // namespace ablate::models::ops
