#include "training/optimizer.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sign.h>
#include <ATen/ops/_fused_adamw.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <numeric>
#include <utility>

#include "training/orthogonal_steps.h"
#include "training/schedule.h"

namespace ablate::training {
namespace {

using TensorVector = std::vector<torch::Tensor>;

/// The shape of a tensor that an optimizer keeps for every parameter: the parameter's, a scalar, or
/// a vector with an element for every output of all its maps.
enum class KeptShape { parameter, scalar, outputs };

struct Kept {
  const char* name;
  KeptShape shape = KeptShape::parameter;
};

torch::Tensor zeros_of(KeptShape shape, const TrainedParameter& one) {
  if (shape == KeptShape::parameter) return torch::zeros_like(one.tensor).detach();
  const torch::TensorOptions options(one.tensor.device());
  if (shape == KeptShape::scalar) return torch::zeros({}, options);
  const auto& [rows, transposed] = one.maps;
  const int64_t outputs = transposed ? std::ssize(rows) * one.tensor.size(-1)
                                     : std::accumulate(rows.begin(), rows.end(), int64_t{0});
  return torch::zeros({outputs}, options.dtype(one.tensor.dtype()));
}

/// Parameters that one call updates, their gradients and their optimizer states, at the same
/// indices.
template <size_t N>
struct Group {
  TensorVector parameters, gradients;
  std::vector<const models::Maps*> maps;
  std::array<TensorVector, N> kept;
};

/// One update of a group.
struct Step {
  double learning_rate;  // of the group
  double rate;  // factor of the schedule's learning rate, which decoupled decay does not have
  bool decays;

  /// The share of a parameter that decoupled weight decay subtracts.
  double lost(double weight_decay) const {
    return decays ? learning_rate / rate * weight_decay : 0.0;
  }
};

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

/// For matrices within layers; make_optimizer gives the rest to AdamW.
template <>
struct Rule<Muon> {
  static constexpr std::array kept{Kept{"momentum"}};

  static void update(const Muon& o, Step step, Group<1>& group) {
    take_orthogonal_steps({.parameters = group.parameters,
                           .directions = directions(o, group.kept[0], group.gradients),
                           .maps = group.maps,
                           .lost = step.lost(o.weight_decay)},
                          step.learning_rate, o);
  }

  static TensorVector directions(const Muon& o, const TensorVector& momentum,
                                 const TensorVector& gradients) {
    at::_foreach_lerp_(momentum, gradients, 1 - o.momentum);
    return o.nesterov ? at::_foreach_lerp(gradients, momentum, o.momentum) : momentum;
  }
};

template <>
struct Rule<NorMuon> {
  static constexpr std::array kept{Kept{"momentum"}, Kept{"row_squares", KeptShape::outputs}};

  static void update(const NorMuon& o, Step step, Group<2>& group) {
    const auto& [momentum, row_squares] = group.kept;
    take_orthogonal_steps({.parameters = group.parameters,
                           .directions = Rule<Muon>::directions(o, momentum, group.gradients),
                           .maps = group.maps,
                           .lost = step.lost(o.weight_decay),
                           .row_squares = row_squares,
                           .row_decay = o.row_decay},
                          step.learning_rate, o);
  }
};

template <class Options>
bool decays_weights(const Options& options) {
  if constexpr (requires { options.weight_decay; }) return options.weight_decay > 0;
  return false;
}

/// The learning-rate multiplier of a parameter in a model wider than its base width (Yang et al.
/// 2022; for steps of one spectral norm, Yang et al. 2023, A Spectral Condition). Every element of
/// a step has Adam's size, so with m times as many inputs the output changes m times as much. An
/// orthogonal step of a matrix that grows on both sides, with elements of the same size, changes
/// the output only sqrt(m) times as much.
template <class Options>
double width_rate(const TrainedParameter& one) {
  const bool orthogonal = std::derived_from<Options, Muon> && one.role == models::Role::matrix;
  return orthogonal ? std::sqrt(one.width) : one.width;
}

template <class Options>
class RuleOptimizer : public Optimizer {
 public:
  RuleOptimizer(const Options& options, const std::vector<TrainedParameter>& parameters)
      : options_(options) {
    for (const auto& one : parameters) {
      const Alike alike{.decays = decays_weights(options) && one.role != models::Role::vector,
                        .rate = one.multiplier * width_rate<Options>(one)};
      Entry entry{.trained = one, .alike = alike, .kept = {}};
      for (size_t i = 0; i < kKept; ++i)
        entry.kept[i] = zeros_of(Rule<Options>::kept[i].shape, one);
      entries_.push_back(std::move(entry));
      if (std::ranges::find(groups_, alike) == groups_.end()) groups_.push_back(alike);
    }
  }

  void step(double learning_rate) override {
    torch::NoGradGuard no_grad;
    for (const auto& alike : groups_) {
      auto group = group_of(alike);
      if (!group.parameters.empty())
        Rule<Options>::update(options_, {learning_rate * alike.rate, alike.rate, alike.decays},
                              group);
    }
  }

  void clear_gradients() override {
    for (auto& entry : entries_) entry.trained.tensor.mutable_grad().reset();
  }

  TensorVector gradients() const override {
    TensorVector result;
    for (const auto& entry : entries_)
      if (const auto& gradient = entry.trained.tensor.grad(); gradient.defined())
        result.push_back(gradient);
    return result;
  }

  Tensors state() const override {
    Tensors state;
    for (const auto& entry : entries_)
      for (size_t i = 0; i < kKept; ++i)
        state[Rule<Options>::kept[i].name + ("." + entry.trained.name)] = entry.kept[i];
    return state;
  }

 private:
  static constexpr size_t kKept = Rule<Options>::kept.size();
  /// The properties that all parameters of a group share.
  struct Alike {
    bool decays;
    double rate;
    bool operator==(const Alike&) const = default;
  };
  struct Entry {
    TrainedParameter trained;
    Alike alike;
    std::array<torch::Tensor, kKept> kept;
  };

  Group<kKept> group_of(const Alike& alike) const {
    Group<kKept> group;
    for (const auto& [trained, own, kept] : entries_) {
      const auto& gradient = trained.tensor.grad();
      if (own != alike || !gradient.defined()) continue;
      group.parameters.push_back(trained.tensor);
      group.gradients.push_back(gradient);
      group.maps.push_back(&trained.maps);
      for (size_t i = 0; i < kKept; ++i) group.kept[i].push_back(kept[i]);
    }
    return group;
  }

  Options options_;
  std::vector<Entry> entries_;
  std::vector<Alike> groups_;
};

/// Two optimizers, each with a part of the parameters.
class JointOptimizer : public Optimizer {
 public:
  JointOptimizer(std::unique_ptr<Optimizer> first, std::unique_ptr<Optimizer> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  void step(double learning_rate) override {
    first_->step(learning_rate);
    second_->step(learning_rate);
  }
  void clear_gradients() override {
    first_->clear_gradients();
    second_->clear_gradients();
  }
  TensorVector gradients() const override {
    auto all = first_->gradients();
    std::ranges::move(second_->gradients(), std::back_inserter(all));
    return all;
  }
  Tensors state() const override {
    auto all = first_->state();
    all.merge(second_->state());
    return all;
  }

 private:
  std::unique_ptr<Optimizer> first_, second_;
};

template <class Options>
std::unique_ptr<Optimizer> optimizer_of(const Options& options,
                                        std::vector<TrainedParameter> parameters) {
  if constexpr (std::derived_from<Options, Muon>) {
    const auto rest = std::ranges::stable_partition(
        parameters, [](const TrainedParameter& one) { return models::is_linear_map(one.role); });
    return std::make_unique<JointOptimizer>(
        std::make_unique<RuleOptimizer<Options>>(options,
                                                 std::vector(parameters.begin(), rest.begin())),
        std::make_unique<RuleOptimizer<AdamW>>(
            AdamW{options.adam, options.weight_decay, options.cautious_decay},
            std::vector(rest.begin(), rest.end())));
  } else {
    return std::make_unique<RuleOptimizer<Options>>(options, parameters);
  }
}

}  // namespace

void Optimizer::load(const Tensors& saved) { load_tensors(state(), saved, "optimizer state"); }

std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options,
                                          const torch::nn::Module& model,
                                          const LrMultipliers& multipliers) {
  return std::visit(
      [&](const auto& chosen) {
        return optimizer_of(chosen, trained_parameters_of(model, multipliers));
      },
      options);
}

void decay(const TensorVector& parameters, const TensorVector& directions, double lost,
           bool cautious) {
  if (lost == 0) return;
  if (!cautious) return at::_foreach_mul_(parameters, 1 - lost);
  const auto products = at::_foreach_mul(parameters, directions);
  for (size_t i = 0; i < parameters.size(); ++i)
    parameters[i].mul_(1 - lost * products[i].ge(0).to(parameters[i].scalar_type()));
}

}  // namespace ablate::training
