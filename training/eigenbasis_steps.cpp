#include "training/eigenbasis_steps.h"

#include <ATen/ops/linalg_eigh.h>
#include <ATen/ops/linalg_qr.h>

#include <cmath>

#include "training/optimizer.h"
#include "training/orthogonal_steps.h"

namespace ablate::training {
namespace {

/// The mean of one side's products, and its eigenvectors as columns. // [N, N] both
struct Factor {
  torch::Tensor mean, basis;

  void find_basis() const { basis.copy_(std::get<1>(at::linalg_eigh(mean)).flip(1)); }

  /// One step of an orthogonal iteration. Returns the order of the columns that it sorts by their
  /// eigenvalues. // [N]
  torch::Tensor follow() const {
    const auto product = mean.mm(basis);
    const auto order = (basis * product).sum(0).argsort(0, /*descending=*/true);
    basis.copy_(std::get<0>(at::linalg_qr(product.index_select(1, order))));
    return order;
  }
};

/// One map, as views into the tensors of its parameter.
struct SoapMap {
  torch::Tensor parameter, gradient, first, second;  // [R, C]
  Factor left, right;

  /// The move with this number, from 1 on.
  void move(const Soap& o, double number, double learning_rate, double lost) const {
    const auto turned = left.basis.t().mm(gradient).mm(right.basis);
    first.lerp_(gradient, 1 - o.beta1);
    second.lerp_(turned.square(), 1 - o.beta2);
    const auto step = left.basis.t().mm(first).mm(right.basis) / (second.sqrt() + o.epsilon);
    const auto direction = left.basis.mm(step).mm(right.basis.t());
    const double correction =
        std::sqrt(1 - std::pow(o.beta2, number)) / (1 - std::pow(o.beta1, number));
    decay({parameter}, {direction}, lost, o.cautious_decay);
    parameter.add_(direction, -learning_rate * correction);
  }

  void follow_gradient(const Soap& o) const {
    left.mean.lerp_(gradient.mm(gradient.t()), 1 - o.beta2);
    right.mean.lerp_(gradient.t().mm(gradient), 1 - o.beta2);
  }

  void find_bases() const {
    left.find_basis();
    right.find_basis();
  }

  void follow_bases() const {
    const auto rows = left.follow(), columns = right.follow();
    second.copy_(second.index_select(0, rows).index_select(1, columns));
  }
};

std::vector<SoapMap> soap_maps_of(const SoapSteps& steps, size_t i) {
  const auto& maps = *steps.maps[i];
  const auto views = [&](const torch::Tensor& x) { return matrices_of(x, maps); };
  const auto parameters = views(steps.parameters[i]), gradients = views(steps.gradients[i]),
             first = views(steps.first[i]), second = views(steps.second[i]);
  const auto left = squares_of(steps.left[i], parameters, 0),
             left_basis = squares_of(steps.left_basis[i], parameters, 0),
             right = squares_of(steps.right[i], parameters, 1),
             right_basis = squares_of(steps.right_basis[i], parameters, 1);
  std::vector<SoapMap> all;
  for (size_t j = 0; j < parameters.size(); ++j)
    all.push_back({.parameter = parameters[j],
                   .gradient = gradients[j],
                   .first = first[j],
                   .second = second[j],
                   .left = {left[j], left_basis[j]},
                   .right = {right[j], right_basis[j]}});
  return all;
}

}  // namespace

void take_soap_steps(const SoapSteps& steps, double learning_rate, double lost,
                     const Soap& options) {
  for (size_t i = 0; i < steps.parameters.size(); ++i) {
    const auto moves = steps.count[i].item<double>();
    steps.count[i].add_(1);
    const bool starts = moves == 0;
    const bool follows =
        !starts && std::fmod(moves, static_cast<double>(options.precondition_frequency)) == 0;
    for (const auto& map : soap_maps_of(steps, i)) {
      if (!starts) map.move(options, moves, learning_rate, lost);
      map.follow_gradient(options);
      if (starts) map.find_bases();
      if (follows) map.follow_bases();
    }
  }
}

}  // namespace ablate::training
