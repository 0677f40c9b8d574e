#include "models/linear.h"

#include <numeric>

namespace ablate::models {

LinearImpl::LinearImpl(int64_t width, const std::vector<int64_t>& parts, bool with_bias) {
  const int64_t total = std::accumulate(parts.begin(), parts.end(), int64_t{0});
  weight.dense = register_parameter("weight", torch::empty({total, width}));
  if (with_bias) bias = register_parameter("bias", torch::zeros({total}));
  torch::NoGradGuard no_grad;
  for (auto& part : weight.dense.split_with_sizes(parts)) torch::nn::init::xavier_uniform_(part);
}

torch::Tensor LinearImpl::forward(const torch::Tensor& x) const {
  return ops::linear(x, weight, bias);
}

}  // namespace ablate::models
