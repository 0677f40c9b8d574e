#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_lerp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "training/device.h"
#include "training/optimizer_rules.h"

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

/// The Nesterov direction, or the momentum itself.
TensorVector directions_of(const Muon& o, const TensorVector& momentum,
                           const TensorVector& gradients) {
  at::_foreach_lerp_(momentum, gradients, 1 - o.momentum);
  return o.nesterov ? at::_foreach_lerp(gradients, momentum, o.momentum) : momentum;
}

/// Matrices of one shape, as views of outputs by inputs into their tensors.
struct SameShape {
  TensorVector parameters, directions;  // [R, C]
  TensorVector row_squares;             // of NorMuon // [R]
};

template <size_t N>
std::map<std::pair<int64_t, int64_t>, SameShape> by_shape(const Group<N>& group,
                                                          const std::array<Kept, N>& kept) {
  std::map<std::pair<int64_t, int64_t>, SameShape> shapes;
  for (size_t i = 0; i < group.parameters.size(); ++i)
    for (const auto& map : maps_of(group, i, kept)) {
      auto& same = shapes[{map.parameter.size(0), map.parameter.size(1)}];
      same.parameters.push_back(map.parameter);
      same.directions.push_back(map.gradient);
      if constexpr (N > 1) same.row_squares.push_back(map.kept[1]);
    }
  return shapes;
}

/// The directions, stacked and made orthogonal. // [N, R, C]
torch::Tensor orthogonal_steps(const Muon& o, const TensorVector& directions) {
  const auto stacked = torch::stack(directions);
  const bool rounds =
      o.precision == MuonPrecision::bf16 && has_products(Precision::bf16, stacked.device());
  const auto type = rounds ? torch::kBFloat16 : stacked.scalar_type();
  return orthogonalized(stacked.to(type), o.coefficients).to(stacked.scalar_type());
}

/// Moves matrices of one shape against these steps, scaled for the shape, after their decay.
void move_against(const Muon& o, Step step, const SameShape& same,
                  const torch::Tensor& orthogonal) {
  const auto steps = orthogonal.unbind();
  decay(same.parameters, steps, step.lost(o.weight_decay), o.cautious_decay);
  at::_foreach_add_(
      same.parameters, steps,
      -step.learning_rate * scale_of(o.scale, orthogonal.size(1), orthogonal.size(2)));
}

}  // namespace

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

void Rule<Muon>::update(const Muon& o, Step step, Group<1>& group) {
  group.gradients = directions_of(o, group.kept[0], group.gradients);
  for (const auto& [shape, same] : by_shape(group, kept))
    move_against(o, step, same, orthogonal_steps(o, same.directions));
}

void Rule<NorMuon>::update(const NorMuon& o, Step step, Group<2>& group) {
  group.gradients = directions_of(o, group.kept[0], group.gradients);
  for (const auto& [shape, same] : by_shape(group, kept))
    move_against(
        o, step, same,
        with_even_rows(orthogonal_steps(o, same.directions), same.row_squares, o.row_decay));
}

}  // namespace ablate::training
