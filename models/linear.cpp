#include "models/linear.h"

#include <numeric>

namespace ablate::models {
namespace {

size_t count_of_scores(InBranch place, size_t parts) {
  if (place == InBranch::scores || place == InBranch::gates) return parts;
  return place == InBranch::scores_and_value ? parts - 1 : 0;
}

}  // namespace

LinearImpl::LinearImpl(int64_t width, const std::vector<int64_t>& parts, bool with_bias,
                       InBranch place) {
  const int64_t total = std::accumulate(parts.begin(), parts.end(), int64_t{0});
  weight.dense = register_parameter("weight", {total, width},
                                    XavierUniform{.rows = parts,
                                                  .adds_to_residual = place == InBranch::last,
                                                  .scores = count_of_scores(place, parts.size())},
                                    place == InBranch::gates ? Role::gate : Role::matrix);
  if (with_bias) bias = register_parameter("bias", {total}, Constant{0}, Role::vector);
}

torch::Tensor LinearImpl::forward(const torch::Tensor& x) const {
  return ops::linear(x, weight, bias);
}

}  // namespace ablate::models
