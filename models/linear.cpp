#include "models/linear.h"

#include <cmath>
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

void LinearImpl::makes_queries(int64_t d_k) {
  std::get<XavierUniform>(own_parameters_.front().initializer).d_k = d_k;
}

void LinearImpl::adapt(int64_t rank, double scale) {
  const int64_t width = weight.dense.size(1), total = weight.dense.size(0);
  lora_a_ =
      register_parameter("lora_a", {rank, width},
                         Uniform::within(1 / std::sqrt(static_cast<double>(width))), Role::matrix);
  lora_b_ = register_parameter("lora_b", {total, rank}, Constant{0}, Role::matrix);
  lora_scale_ = scale;
}

torch::Tensor LinearImpl::merged_weight() const {
  return is_adapted() ? weight.dense + lora_b_.matmul(lora_a_) * lora_scale_ : weight.dense;
}

void LinearImpl::scale_outputs(int64_t first, const torch::Tensor& by) {
  const torch::NoGradGuard no_grad;
  weight.dense.narrow(0, first, by.size(0)).mul_(by.unsqueeze(1));
  if (bias.defined()) bias.narrow(0, first, by.size(0)).mul_(by);
}

torch::Tensor LinearImpl::forward(const torch::Tensor& x) const {
  const auto y = ops::linear(x, weight, bias);
  if (!is_adapted()) return y;
  const auto low = ops::linear(x, {.dense = lora_a_, .packed = nullptr});  // [..., R]
  return y + ops::linear(low * lora_scale_, {.dense = lora_b_, .packed = nullptr});
}

}  // namespace ablate::models
