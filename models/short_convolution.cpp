#include "models/short_convolution.h"

#include <cmath>

#include "models/ops/short_convolution.h"

namespace ablate::models {

ShortConvolutionImpl::ShortConvolutionImpl(const CanonOptions& options, int64_t channels,
                                           std::string_view name)
    : name_(name),
      adds_input_(options.residual),
      weight_(register_parameter("weight", {options.width, channels},
                                 Uniform::within(1 / std::sqrt(static_cast<double>(options.width))),
                                 Role::vector)) {}

torch::Tensor ShortConvolutionImpl::forward(const torch::Tensor& x, KVCache* cache) const {
  auto* recent = cache == nullptr ? nullptr : cache->state.find(name_);  // [B, width - 1, C]
  const auto seen = recent == nullptr ? torch::constant_pad_nd(x, {0, 0, weight_.size(0) - 1, 0})
                                      : torch::cat({*recent, x}, 1);
  if (recent != nullptr) *recent = seen.slice(1, 1 - weight_.size(0));
  return ops::short_convolution(seen, weight_, adds_input_);
}

void ShortConvolutionImpl::begin(KVCache& cache, const torch::Tensor& like) const {
  const auto one = torch::zeros_like(like.narrow(1, 0, 1).narrow(2, 0, 1));  // [B, 1, 1]
  cache.state[name_] = one.expand({-1, weight_.size(0) - 1, weight_.size(1)});
}

torch::Tensor convolved(const ShortConvolution& convolution, const torch::Tensor& x,
                        KVCache* cache) {
  return convolution ? convolution->forward(x, cache) : x;
}

void begin(const ShortConvolution& convolution, KVCache& cache, const torch::Tensor& like) {
  if (convolution) convolution->begin(cache, like);
}

}  // namespace ablate::models
