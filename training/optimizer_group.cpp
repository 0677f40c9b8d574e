#include "training/optimizer_group.h"

#include <ATen/ops/_foreach_mul.h>
#include <c10/util/accumulate.h>

namespace ablate::training {
namespace {

/// The sizes of what is kept for a map. REQUIRES: a shape that depends on its outputs or inputs.
std::vector<int64_t> sizes_of(KeptShape shape, const torch::Tensor& matrix) {
  const int64_t width = matrix.size(shape == KeptShape::input_pairs ? 1 : 0);
  if (shape == KeptShape::outputs) return {width};
  return {width, width};
}

}  // namespace

torch::Tensor start_of(KeptShape shape, const torch::Tensor& parameter, const models::Maps& maps) {
  if (shape == KeptShape::copy) return parameter.detach().clone();
  if (shape == KeptShape::parameter) return torch::zeros_like(parameter).detach();
  const torch::TensorOptions options(parameter.device());
  if (shape == KeptShape::scalar) return torch::zeros({}, options);
  if (shape == KeptShape::number) return torch::zeros({}, torch::kDouble);
  int64_t elements = 0;
  for (const auto& matrix : matrices_of(parameter.detach(), maps))
    elements += c10::multiply_integers(sizes_of(shape, matrix));
  return torch::zeros({elements}, options.dtype(parameter.dtype()));
}

void decay(const TensorVector& parameters, const TensorVector& directions, double lost,
           bool cautious) {
  if (lost == 0) return;
  if (!cautious) return at::_foreach_mul_(parameters, 1 - lost);
  const auto products = at::_foreach_mul(parameters, directions);
  for (size_t i = 0; i < parameters.size(); ++i)
    parameters[i].mul_(1 - lost * products[i].ge(0).to(parameters[i].scalar_type()));
}

TensorVector matrices_of(const torch::Tensor& tensor, const models::Maps& maps) {
  const int64_t columns = tensor.dim() == 0 ? 1 : tensor.size(-1);
  auto matrices = tensor.reshape({-1, columns}).split_with_sizes(maps.rows);
  if (maps.transposed)
    for (auto& matrix : matrices) matrix = matrix.t();
  return matrices;
}

TensorVector parts_of(const torch::Tensor& kept, KeptShape shape, const models::Maps& maps,
                      const TensorVector& matrices) {
  if (shape == KeptShape::parameter || shape == KeptShape::copy) return matrices_of(kept, maps);
  if (kept.dim() == 0) return TensorVector(matrices.size(), kept);
  TensorVector parts;
  int64_t first = 0;
  for (const auto& matrix : matrices) {
    const auto sizes = sizes_of(shape, matrix);
    parts.push_back(kept.narrow(0, first, c10::multiply_integers(sizes)).view(sizes));
    first += parts.back().numel();
  }
  return parts;
}

}  // namespace ablate::training
