#include "training/muon.h"

#include <ATen/ops/_foreach_add.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "training/device.h"

namespace ablate::training {
namespace {

constexpr int kIterations = 5;
constexpr double kEpsilon = 1e-7;

/// Matrices of one shape, as views of outputs by inputs into their tensors.
struct SameShape {
  std::vector<torch::Tensor> parameters, directions;  // [R, C]
};

/// The maps of a tensor, outputs by inputs.
std::vector<torch::Tensor> matrices_of(const torch::Tensor& tensor, const models::Maps& maps) {
  auto matrices = tensor.reshape({-1, tensor.size(-1)}).split_with_sizes(maps.rows);
  if (maps.transposed)
    for (auto& matrix : matrices) matrix = matrix.t();
  return matrices;
}

std::map<std::pair<int64_t, int64_t>, SameShape> by_shape(const MapSteps& steps) {
  std::map<std::pair<int64_t, int64_t>, SameShape> shapes;
  for (size_t i = 0; i < steps.parameters.size(); ++i) {
    const auto parameters = matrices_of(steps.parameters[i], *steps.maps[i]);
    const auto directions = matrices_of(steps.directions[i], *steps.maps[i]);
    for (size_t j = 0; j < parameters.size(); ++j) {
      auto& same = shapes[{parameters[j].size(0), parameters[j].size(1)}];
      same.parameters.push_back(parameters[j]);
      same.directions.push_back(directions[j]);
    }
  }
  return shapes;
}

double scale_of(MuonScale scale, int64_t outputs, int64_t inputs) {
  const auto rows = static_cast<double>(outputs), columns = static_cast<double>(inputs);
  if (scale == MuonScale::original) return std::sqrt(std::max(1.0, rows / columns));
  return 0.2 * std::sqrt(std::max(rows, columns));
}

}  // namespace

torch::Tensor orthogonalized(const torch::Tensor& matrices) {
  const bool tall = matrices.size(1) > matrices.size(2);
  auto x = tall ? matrices.transpose(1, 2) : matrices;
  x = x / at::linalg_vector_norm(x, 2, at::IntArrayRef{1, 2}, /*keepdim=*/true).clamp_min(kEpsilon);
  for (int i = 0; i < kIterations; ++i) {
    const auto gram = x.bmm(x.transpose(1, 2));                         // [N, R, R]
    const auto polynomial = gram.baddbmm(gram, gram, -4.7750, 2.0315);  // [N, R, R]
    x = x.baddbmm(polynomial, x, 3.4445, 1.0);
  }
  return tall ? x.transpose(1, 2) : x;
}

void take_orthogonal_steps(const MapSteps& steps, double learning_rate, const Muon& options) {
  for (auto& [shape, same] : by_shape(steps)) {
    const auto directions = torch::stack(same.directions);
    const bool rounds = options.precision == MuonPrecision::bf16 &&
                        has_products(Precision::bf16, directions.device());
    const auto type = rounds ? torch::kBFloat16 : directions.scalar_type();
    const auto orthogonal = orthogonalized(directions.to(type)).to(directions.scalar_type());
    at::_foreach_add_(same.parameters, orthogonal.unbind(),
                      -learning_rate * scale_of(options.scale, shape.first, shape.second));
  }
}

}  // namespace ablate::training
