#include "models/linear.h"

#include <numeric>

namespace ablate::models {
namespace {

size_t count_of_scores(Projection kind, size_t parts) {
  if (kind == Projection::query || kind == Projection::head_gate) return parts;
  return kind == Projection::qkv ? parts - 1 : 0;
}

}  // namespace

LinearImpl::LinearImpl(int64_t width, const std::vector<int64_t>& parts, bool with_bias,
                       Projection kind) {
  const int64_t total = std::accumulate(parts.begin(), parts.end(), int64_t{0});
  weight.dense = register_parameter("weight", {total, width},
                                    XavierUniform{.rows = parts,
                                                  .adds_to_residual = kind == Projection::output,
                                                  .scores = count_of_scores(kind, parts.size())},
                                    kind == Projection::head_gate ? Role::gate : Role::matrix);
  if (with_bias) bias = register_parameter("bias", {total}, Constant{0}, Role::vector);
}

torch::Tensor LinearImpl::forward(const torch::Tensor& x) const {
  return ops::linear(x, weight, bias);
}

}  // namespace ablate::models
