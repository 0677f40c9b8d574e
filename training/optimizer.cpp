#include "training/optimizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <map>
#include <string>
#include <utility>

#include "training/optimizer_rules.h"

namespace ablate::training {
namespace {

/// A parameter that is trained, by its name in the whole model.
struct TrainedParameter : models::Module::Parameter {
  double multiplier;  // of the learning rate, for its parameter group
};

double multiplier_of(models::Role role, const LrMultipliers& multipliers) {
  switch (role) {
    case models::Role::embedding:
      return multipliers.embeddings;
    case models::Role::matrix:
    case models::Role::gate:
      return multipliers.matrices;
    case models::Role::output:
      return multipliers.output;
    case models::Role::vector:
      return multipliers.vectors;
  }
  return 1.0;
}

using Registered = std::map<const at::TensorImpl*, models::Module::Parameter>;

Registered registered_in(const torch::nn::Module& model) {
  Registered all;
  const auto add = [&](const torch::nn::Module& module) {
    if (const auto* own = dynamic_cast<const models::Module*>(&module))
      for (const auto& parameter : own->own_parameters())
        all.emplace(parameter.tensor.unsafeGetTensorImpl(), parameter);
  };
  add(model);
  for (const auto& module : model.modules(/*include_self=*/false)) add(*module);
  return all;
}

/// The parameters of `model` that require a gradient, in its order.
std::vector<TrainedParameter> trained_parameters_of(const torch::nn::Module& model,
                                                    const LrMultipliers& multipliers) {
  const auto registered = registered_in(model);
  std::vector<TrainedParameter> trained;
  for (const auto& item : model.named_parameters()) {
    if (!item.value().requires_grad()) continue;
    const auto found = registered.find(item.value().unsafeGetTensorImpl());
    TORCH_CHECK(found != registered.end(), "the parameter '", item.key(), "' states no role");
    trained.push_back({found->second, multiplier_of(found->second.role, multipliers)});
    trained.back().name = item.key();
  }
  return trained;
}

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
        entry.kept[i] = start_of(Rule<Options>::kept[i].shape, one.tensor, one.maps);
      entries_.push_back(std::move(entry));
      if (std::ranges::find(groups_, alike) == groups_.end()) groups_.push_back(alike);
    }
  }

  void learn_curvature(int64_t targets) override {
    if constexpr (requires { &Rule<Options>::learn_curvature; }) {
      torch::NoGradGuard no_grad;
      for (const auto& alike : groups_) {
        auto group = group_of(alike);
        if (!group.parameters.empty())
          Rule<Options>::learn_curvature(options_, static_cast<double>(targets), group);
      }
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

  void to_evaluation() override {
    if constexpr (Options::averages) put([](const auto&, const auto& average) { return average; });
  }

  void to_training() override {
    if constexpr (Options::averages)
      put([&](const auto& z, const auto& average) {
        return Rule<Options>::trained_at(options_, z, average);
      });
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

  /// Gives every parameter the value that `value_of` makes of its first two kept tensors.
  template <class ValueOf>
  void put(ValueOf&& value_of) {
    const torch::NoGradGuard no_grad;
    for (auto& entry : entries_) entry.trained.tensor.copy_(value_of(entry.kept[0], entry.kept[1]));
  }

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
  if constexpr (MatrixOptimizer<Options>) {
    const auto rest = std::ranges::stable_partition(
        parameters, [](const TrainedParameter& one) { return models::is_linear_map(one.role); });
    return std::make_unique<JointOptimizer>(
        std::make_unique<RuleOptimizer<Options>>(options,
                                                 std::vector(parameters.begin(), rest.begin())),
        std::make_unique<RuleOptimizer<decltype(options.rest())>>(
            options.rest(), std::vector(rest.begin(), rest.end())));
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

}  // namespace ablate::training
