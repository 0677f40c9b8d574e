#include "models/linear.h"

#include <numeric>

namespace ablate::models {

LinearImpl::LinearImpl(int64_t width, const std::vector<int64_t>& parts, bool with_bias,
                       InBranch place) {
  const int64_t total = std::accumulate(parts.begin(), parts.end(), int64_t{0});
  weight.dense = register_parameter(
      "weight", {total, width},
      XavierUniform{.rows = parts, .adds_to_residual = place == InBranch::last}, Role::matrix);
  if (with_bias) bias = register_parameter("bias", {total}, Constant{0}, Role::vector);
}

torch::Tensor LinearImpl::forward(const torch::Tensor& x) const {
  return ops::linear(x, weight, bias);
}

}  // namespace ablate::models
