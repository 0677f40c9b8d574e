#pragma once

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_clamp_max.h>
#include <ATen/ops/_foreach_clamp_min.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sign.h>
#include <ATen/ops/_fused_adamw.h>

#include <array>
#include <cmath>

#include "training/optimizer_group.h"
#include "training/optimizer_options.h"

namespace ablate::training {

/// The state and the update of one kind of optimizer. An alternative of OptimizerOptions without a
/// rule does not compile.
template <class Options>
struct Rule;

template <>
struct Rule<AdamW> {
  static constexpr std::array kept{Kept{"first"}, Kept{"second"}, Kept{"count", KeptShape::scalar}};

  static void update(const AdamW& o, Step step, Group<3>& group) {
    auto& [first, second, count] = group.kept;
    const bool cautious = o.cautious_decay && step.decays;
    if (cautious)
      decay(group.parameters, at::_foreach_lerp(first, group.gradients, 1 - o.beta1),
            step.lost(o.weight_decay), true);
    at::_foreach_add_(count, 1);
    at::_fused_adamw_(group.parameters, group.gradients, first, second, /*max_exp_avg_sqs=*/{},
                      count, step.learning_rate, o.beta1, o.beta2,
                      step.decays && !cautious ? o.weight_decay / step.rate : 0.0, o.epsilon,
                      /*amsgrad=*/false,
                      /*maximize=*/false);
  }
};

template <>
struct Rule<Adam> : Rule<AdamW> {
  static void update(const Adam& o, Step step, Group<3>& group) {
    Rule<AdamW>::update({o, /*weight_decay=*/0.0}, step, group);
  }
};

/// One parameter of a group with Adam's moments.
struct Moments {
  torch::Tensor parameter, gradient, first, second;
  double number;  // of its update, from 1 on

  template <size_t N>
  Moments(const Group<N>& group, size_t i)
      : parameter(group.parameters[i]),
        gradient(group.gradients[i]),
        first(group.kept[0][i]),
        second(group.kept[1][i]),
        number(group.kept[2][i].add_(1).template item<double>()) {}

  void follow(const Adam& o, const torch::Tensor& squares) const {
    first.lerp_(gradient, 1 - o.beta1);
    second.lerp_(squares, 1 - o.beta2);
  }
  /// The first moment without the bias of its start.
  torch::Tensor mean(const Adam& o) const { return first / (1 - std::pow(o.beta1, number)); }
  /// What a step is divided by.
  torch::Tensor root(const Adam& o) const {
    return (second / (1 - std::pow(o.beta2, number))).sqrt_().add_(o.epsilon);
  }
  void move(const AdamW& o, Step step, const torch::Tensor& direction) const {
    decay({parameter}, {direction}, step.lost(o.weight_decay), o.cautious_decay);
    parameter.add_(direction, -step.learning_rate);
  }
};

constexpr std::array kMoments{Kept{"first"}, Kept{"second"}, Kept{"count", KeptShape::number}};

template <>
struct Rule<NAdamW> {
  static constexpr auto kept = kMoments;

  static void update(const NAdamW& o, Step step, Group<3>& group) {
    for (size_t i = 0; i < group.parameters.size(); ++i) {
      const Moments one(group, i);
      one.follow(o, one.gradient.square());
      const double now = 1 - std::pow(o.beta1, one.number),
                   next = 1 - std::pow(o.beta1, one.number + 1);
      const auto ahead = one.first * (o.beta1 / next) + one.gradient * ((1 - o.beta1) / now);
      one.move(o, step, ahead / one.root(o));
    }
  }
};

template <>
struct Rule<CautiousAdamW> {
  static constexpr auto kept = kMoments;

  static void update(const CautiousAdamW& o, Step step, Group<3>& group) {
    for (size_t i = 0; i < group.parameters.size(); ++i) {
      const Moments one(group, i);
      one.follow(o, one.gradient.square());
      const auto direction = one.mean(o) / one.root(o);
      const auto agrees = (direction * one.gradient).gt(0).to(direction.scalar_type());
      const auto all = static_cast<double>(agrees.numel());
      one.move(o, step, direction * agrees * (all / (agrees.sum() + 1)));
    }
  }
};

template <>
struct Rule<AdamMini> {
  static constexpr std::array kept{Kept{"first"}, Kept{"second", KeptShape::outputs},
                                   Kept{"count", KeptShape::number}};

  static void update(const AdamMini& o, Step step, Group<3>& group) {
    for (size_t i = 0; i < group.parameters.size(); ++i) {
      const Moments one(group, i);
      TensorVector squares;
      for (const auto& matrix : matrices_of(one.gradient.square(), *group.maps[i]))
        squares.push_back(matrix.mean(-1));
      one.follow(o, torch::cat(squares));
      const auto direction = one.mean(o).contiguous(), root = one.root(o);
      int64_t first = 0;
      for (auto& matrix : matrices_of(direction, *group.maps[i])) {
        matrix.div_(root.narrow(0, first, matrix.size(0)).unsqueeze(-1));
        first += matrix.size(0);
      }
      one.move(o, step, direction);
    }
  }
};

template <>
struct Rule<Mars> {
  static constexpr std::array kept{kMoments[0], kMoments[1], kMoments[2], Kept{"last"}};

  static void update(const Mars& o, Step step, Group<4>& group) {
    const double weight = o.gamma * o.beta1 / (1 - o.beta1);
    for (size_t i = 0; i < group.parameters.size(); ++i) {
      Moments one(group, i);
      const auto corrected = one.gradient + (one.gradient - group.kept[3][i]) * weight;
      group.kept[3][i].copy_(one.gradient);
      one.gradient = corrected / corrected.norm().clamp_min(1);
      one.follow(o, one.gradient.square());
      one.move(o, step, one.mean(o) / one.root(o));
    }
  }
};

template <>
struct Rule<Sgd> {
  static constexpr std::array kept{Kept{"velocity"}};

  static void update(const Sgd& o, Step step, Group<1>& group) {
    auto& [velocity] = group.kept;
    auto gradients = group.gradients;
    if (step.decays) gradients = at::_foreach_add(gradients, group.parameters, o.weight_decay);
    at::_foreach_mul_(velocity, o.momentum);
    at::_foreach_add_(velocity, gradients);
    const auto direction =
        o.nesterov ? at::_foreach_add(gradients, velocity, o.momentum) : velocity;
    at::_foreach_add_(group.parameters, direction, -step.learning_rate);
  }
};

template <>
struct Rule<Lion> {
  static constexpr std::array kept{Kept{"momentum"}};

  static void update(const Lion& o, Step step, Group<1>& group) {
    auto& [momentum] = group.kept;
    auto direction = at::_foreach_lerp(momentum, group.gradients, 1 - o.beta1);
    at::_foreach_sign_(direction);
    if (step.decays)
      decay(group.parameters, direction, step.lost(o.weight_decay), o.cautious_decay);
    at::_foreach_add_(group.parameters, direction, -step.learning_rate);
    at::_foreach_lerp_(momentum, group.gradients, 1 - o.beta2);
  }
};

template <>
struct Rule<Sophia> {
  static constexpr std::array kept{Kept{"momentum"}, Kept{"curvature"}};

  static void learn_curvature(const Sophia& o, double targets, Group<2>& group) {
    const auto squares = at::_foreach_mul(group.gradients, group.gradients);
    at::_foreach_mul_(squares, targets);
    at::_foreach_lerp_(group.kept[1], squares, 1 - o.beta2);
  }

  static void update(const Sophia& o, Step step, Group<2>& group) {
    const auto& [momentum, curvature] = group.kept;
    at::_foreach_lerp_(momentum, group.gradients, 1 - o.beta1);
    auto divisors = at::_foreach_mul(curvature, o.gamma);
    at::_foreach_clamp_min_(divisors, o.epsilon);
    auto direction = at::_foreach_div(momentum, divisors);
    at::_foreach_clamp_min_(direction, -1);
    at::_foreach_clamp_max_(direction, 1);
    decay(group.parameters, direction, step.lost(o.weight_decay), o.cautious_decay);
    at::_foreach_add_(group.parameters, direction, -step.learning_rate);
  }
};

/// For matrices within layers; make_optimizer gives the rest to AdamW.
template <>
struct Rule<Muon> {
  static constexpr std::array kept{Kept{"momentum"}};

  static void update(const Muon& o, Step step, Group<1>& group);
};

/// The running mean of the squares of every row of the orthogonal steps divides it.
template <>
struct Rule<NorMuon> {
  static constexpr std::array kept{Kept{"momentum"}, Kept{"row_squares", KeptShape::outputs}};

  static void update(const NorMuon& o, Step step, Group<2>& group);
};

template <>
struct Rule<Scion> : Rule<Muon> {
  static void update(const Scion& o, Step step, Group<1>& group) {
    Rule<Muon>::update(o.matrices(), step, group);
  }
};

/// Approximates U V^T of every matrix U S V^T: five steps of an iteration of polynomials bring
/// singular values to between about 0.7 and 1.2 (Jordan 2024), or 0.85 and 1.15 (Amsel et al.
/// 2025), in the element type of the matrices. A matrix of zeros stays zero.
/// // [N, R, C] -> [N, R, C]
torch::Tensor orthogonalized(const torch::Tensor& matrices,
                             MuonCoefficients coefficients = MuonCoefficients::jordan);

/// Vyas et al. 2024, algorithm 3, in the order of the authors' code: Adam in the eigenbases of the
/// running means of G G^T and G^T G, which are found for the first gradient of a map, with which it
/// does not move, and follow those means by one step of an orthogonal iteration every
/// `precondition_frequency` moves.
template <>
struct Rule<Soap> {
  static constexpr std::array kept{Kept{"first"},
                                   Kept{"second"},  // in the eigenbases
                                   Kept{"left", KeptShape::output_pairs},
                                   Kept{"left_basis", KeptShape::output_pairs},
                                   Kept{"right", KeptShape::input_pairs},
                                   Kept{"right_basis", KeptShape::input_pairs},
                                   Kept{"count", KeptShape::number}};

  static void update(const Soap& o, Step step, Group<7>& group);
};

/// PSGD with Kronecker factors (Li 2019, section 4, in the form of the package kron_torch): with
/// the unbiased momentum M of a map, the step is A^T A M B^T B, whose elements have at most the
/// root mean square 1.1. The upper triangular A and B start as identities and follow the relative
/// gradient of E|A M B^T|^2 + E|A^-T V B^-1|^2, with V drawn from a standard normal distribution by
/// the number of the update and the map. A map whose gradients were all 0 so far keeps its factors.
template <>
struct Rule<Kron> {
  static constexpr std::array kept{Kept{"momentum"}, Kept{"left", KeptShape::output_pairs},
                                   Kept{"right", KeptShape::input_pairs},
                                   Kept{"count", KeptShape::number}};

  static void update(const Kron& o, Step step, Group<4>& group);
};

template <>
struct Rule<ScheduleFree> {
  static constexpr std::array kept{Kept{"z", KeptShape::copy}, Kept{"average", KeptShape::copy},
                                   Kept{"second"}, Kept{"count", KeptShape::number},
                                   Kept{"weights", KeptShape::number}};

  static void update(const ScheduleFree& o, Step step, Group<5>& group) {
    auto& [z, average, second, count, weights] = group.kept;
    const double weight = step.learning_rate * step.learning_rate;
    for (size_t i = 0; i < z.size(); ++i) {
      const auto& gradient = group.gradients[i];
      second[i].mul_(o.beta2).addcmul_(gradient, gradient, 1 - o.beta2);
      const double unbiased = 1 - std::pow(o.beta2, count[i].add_(1).item<double>());
      z[i].add_(group.parameters[i], -step.lost(o.weight_decay));
      z[i].addcdiv_(gradient, (second[i] / unbiased).sqrt_().add_(o.epsilon), -step.learning_rate);
      average[i].lerp_(z[i], weight / weights[i].add_(weight).item<double>());
      group.parameters[i].copy_(trained_at(o, z[i], average[i]));
    }
  }

  static torch::Tensor trained_at(const ScheduleFree& o, const torch::Tensor& z,
                                  const torch::Tensor& average) {
    return average.lerp(z, 1 - o.beta1);
  }
};

}  // namespace ablate::training
