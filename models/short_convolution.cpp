#include "models/short_convolution.h"

#include <cmath>

#include "models/ops/short_convolution.h"

namespace ablate::models {

ShortConvolutionImpl::ShortConvolutionImpl(const CanonOptions& options, int64_t channels)
    : adds_input_(options.residual),
      weight_(register_parameter(
          "weight", {options.width, channels},
          Uniform{.bound = 1 / std::sqrt(static_cast<double>(options.width))}, Role::vector)) {}

torch::Tensor ShortConvolutionImpl::forward(const torch::Tensor& x) const {
  const auto padded = torch::constant_pad_nd(x, {0, 0, weight_.size(0) - 1, 0});
  return ops::short_convolution(padded, weight_, adds_input_);
}

torch::Tensor ShortConvolutionImpl::step(const torch::Tensor& x, torch::Tensor& recent) const {
  const auto seen = torch::cat({recent, x}, 1);
  recent = seen.slice(1, 1 - weight_.size(0));
  return ops::short_convolution(seen, weight_, adds_input_);
}

torch::Tensor ShortConvolutionImpl::nothing_yet(const torch::Tensor& like) const {
  const auto one = torch::zeros_like(like.narrow(1, 0, 1).narrow(2, 0, 1));  // [B, 1, 1]
  return one.expand({-1, weight_.size(0) - 1, weight_.size(1)});
}

torch::Tensor convolved(const ShortConvolution& convolution, const torch::Tensor& x,
                        torch::Tensor* recent) {
  if (!convolution) return x;
  const bool whole = recent == nullptr || !recent->defined();
  return whole ? convolution->forward(x) : convolution->step(x, *recent);
}

torch::Tensor nothing_yet(const ShortConvolution& convolution, const torch::Tensor& like) {
  return convolution ? convolution->nothing_yet(like) : torch::Tensor();
}

}  // namespace ablate::models
