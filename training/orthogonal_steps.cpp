#include "training/orthogonal_steps.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_lerp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "training/device.h"
#include "training/optimizer.h"

namespace ablate::training {
namespace {

struct Polynomial {
  double first, third, fifth;  // coefficients of these powers
};
using Polynomials = std::array<Polynomial, 5>;

constexpr Polynomial kSteep{3.4445, -4.7750, 2.0315};
constexpr Polynomials kJordan{kSteep, kSteep, kSteep, kSteep, kSteep};
constexpr Polynomials kPolarExpress{
    {{8.156554524902461, -22.48329292557795, 15.878769915207462},
     {4.042929935166739, -2.808917465908714, 0.5000178451051316},
     {3.8916678022926607, -2.772484153217685, 0.5060648178503393},
     {3.285753657755655, -2.3681294933425376, 0.46449024233003106},
     {2.3465413258596377, -1.7097828382687081, 0.42323551169305323}}};
constexpr double kPolarMargin = 1.02;  // rounding brings no singular value above 1
constexpr double kEpsilon = 1e-7;      // of a norm
constexpr double kRowEpsilon = 1e-10;  // of a row's root mean square

/// Matrices of one shape, as views of outputs by inputs into their tensors.
struct SameShape {
  std::vector<torch::Tensor> parameters, directions;  // [R, C]
  std::vector<torch::Tensor> row_squares;             // [R]
};

std::map<std::pair<int64_t, int64_t>, SameShape> by_shape(const MapSteps& steps) {
  std::map<std::pair<int64_t, int64_t>, SameShape> shapes;
  for (size_t i = 0; i < steps.parameters.size(); ++i) {
    const auto parameters = matrices_of(steps.parameters[i], *steps.maps[i]);
    const auto directions = matrices_of(steps.directions[i], *steps.maps[i]);
    int64_t first = 0;  // of the rows of all maps
    for (size_t j = 0; j < parameters.size(); ++j) {
      auto& same = shapes[{parameters[j].size(0), parameters[j].size(1)}];
      same.parameters.push_back(parameters[j]);
      same.directions.push_back(directions[j]);
      if (steps.row_squares.empty()) continue;
      const int64_t outputs = parameters[j].size(0);
      same.row_squares.push_back(steps.row_squares[i].narrow(0, first, outputs));
      first += outputs;
    }
  }
  return shapes;
}

double scale_of(MuonScale scale, int64_t outputs, int64_t inputs) {
  const auto rows = static_cast<double>(outputs), columns = static_cast<double>(inputs);
  if (scale == MuonScale::original) return std::sqrt(std::max(1.0, rows / columns));
  return 0.2 * std::sqrt(std::max(rows, columns));
}

/// Orthogonal matrices whose rows are divided by their usual sizes, and which then have the norm
/// of orthogonal ones again; `squares` follow the mean squares of the rows. // [N, R, C]
torch::Tensor with_even_rows(const torch::Tensor& orthogonal,
                             const std::vector<torch::Tensor>& squares, double decay) {
  at::_foreach_lerp_(squares, orthogonal.square().mean(-1).unbind(), 1 - decay);
  const auto usual = torch::stack(squares).sqrt().unsqueeze(-1);  // [N, R, 1]
  const auto even = orthogonal / (usual + kRowEpsilon);
  const auto norm = at::linalg_vector_norm(even, 2, at::IntArrayRef{1, 2}, /*keepdim=*/true);
  const auto wanted =
      std::sqrt(static_cast<double>(std::min(orthogonal.size(1), orthogonal.size(2))));
  return even * (wanted / norm.clamp_min(kEpsilon));
}

}  // namespace

std::vector<torch::Tensor> matrices_of(const torch::Tensor& tensor, const models::Maps& maps) {
  const int64_t columns = tensor.dim() == 0 ? 1 : tensor.size(-1);
  auto matrices = tensor.reshape({-1, columns}).split_with_sizes(maps.rows);
  if (maps.transposed)
    for (auto& matrix : matrices) matrix = matrix.t();
  return matrices;
}

std::vector<torch::Tensor> squares_of(const torch::Tensor& flat,
                                      const std::vector<torch::Tensor>& matrices, int64_t side) {
  std::vector<torch::Tensor> squares;
  int64_t first = 0;
  for (const auto& matrix : matrices) {
    const int64_t width = matrix.size(side);
    squares.push_back(flat.narrow(0, first, width * width).view({width, width}));
    first += width * width;
  }
  return squares;
}

torch::Tensor orthogonalized(const torch::Tensor& matrices, MuonCoefficients coefficients) {
  const bool jordan = coefficients == MuonCoefficients::jordan;
  const bool tall = matrices.size(1) > matrices.size(2);
  auto x = tall ? matrices.transpose(1, 2) : matrices;
  const auto norm = at::linalg_vector_norm(x, 2, at::IntArrayRef{1, 2}, /*keepdim=*/true);
  x = x / (norm * (jordan ? 1 : kPolarMargin)).clamp_min(kEpsilon);
  for (const auto& [a, b, c] : jordan ? kJordan : kPolarExpress) {
    const auto gram = x.bmm(x.transpose(1, 2));              // [N, R, R]
    const auto polynomial = gram.baddbmm(gram, gram, b, c);  // [N, R, R]
    x = x.baddbmm(polynomial, x, a, 1.0);
  }
  return tall ? x.transpose(1, 2) : x;
}

void take_orthogonal_steps(const MapSteps& steps, double learning_rate, const Muon& options) {
  for (auto& [shape, same] : by_shape(steps)) {
    const auto directions = torch::stack(same.directions);
    const bool rounds = options.precision == MuonPrecision::bf16 &&
                        has_products(Precision::bf16, directions.device());
    const auto type = rounds ? torch::kBFloat16 : directions.scalar_type();
    auto orthogonal =
        orthogonalized(directions.to(type), options.coefficients).to(directions.scalar_type());
    if (!same.row_squares.empty())
      orthogonal = with_even_rows(orthogonal, same.row_squares, steps.row_decay);
    decay(same.parameters, orthogonal.unbind(), steps.lost, options.cautious_decay);
    at::_foreach_add_(same.parameters, orthogonal.unbind(),
                      -learning_rate * scale_of(options.scale, shape.first, shape.second));
  }
}

}  // namespace ablate::training
