#include <ATen/ops/linalg_eigh.h>
#include <ATen/ops/linalg_qr.h>

#include <cmath>

#include "training/optimizer_rules.h"

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
  void move(const Soap& o, double number, Step update) const {
    const auto turned = left.basis.t().mm(gradient).mm(right.basis);
    first.lerp_(gradient, 1 - o.beta1);
    second.lerp_(turned.square(), 1 - o.beta2);
    const auto step = left.basis.t().mm(first).mm(right.basis) / (second.sqrt() + o.epsilon);
    const auto direction = left.basis.mm(step).mm(right.basis.t());
    const double correction =
        std::sqrt(1 - std::pow(o.beta2, number)) / (1 - std::pow(o.beta1, number));
    decay({parameter}, {direction}, update.lost(o.weight_decay), o.cautious_decay);
    parameter.add_(direction, -update.learning_rate * correction);
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

}  // namespace

void Rule<Soap>::update(const Soap& o, Step step, Group<7>& group) {
  for (size_t i = 0; i < group.parameters.size(); ++i) {
    const auto& count = group.kept[6][i];
    const auto moves = count.item<double>();
    count.add_(1);
    const bool starts = moves == 0;
    const bool follows =
        !starts && std::fmod(moves, static_cast<double>(o.precondition_frequency)) == 0;
    for (const auto& [parameter, gradient, parts] : maps_of(group, i, kept)) {
      const auto& [first, second, left, left_basis, right, right_basis, all] = parts;
      const SoapMap map{parameter, gradient,           first,
                        second,    {left, left_basis}, {right, right_basis}};
      if (!starts) map.move(o, moves, step);
      map.follow_gradient(o);
      if (starts) map.find_bases();
      if (follows) map.follow_bases();
    }
  }
}

}  // namespace ablate::training
