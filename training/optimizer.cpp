#include "training/optimizer.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sign.h>
#include <ATen/ops/_fused_adamw.h>

#include <array>

#include "models/module.h"

namespace ablate::training {
namespace {

using TensorVector = std::vector<torch::Tensor>;

/// A tensor that an optimizer keeps for every parameter: of the parameter's shape, or a scalar.
struct Kept {
  const char* name;
  bool scalar = false;
};

/// Parameters that one call updates alike, their gradients and what is kept of them, at the same
/// indices.
template <size_t N>
struct Group {
  TensorVector parameters, gradients;
  std::array<TensorVector, N> kept;
};

/// What one call does to a group.
struct Step {
  double learning_rate;
  bool decays;
};

/// How one kind of optimizer works: what it keeps, and its update. An alternative of
/// OptimizerOptions that has no rule does not compile.
template <class Options>
struct Rule;

template <>
struct Rule<AdamW> {
  static constexpr std::array kept{Kept{"first"}, Kept{"second"}, Kept{"count", true}};

  static void update(const AdamW& o, Step step, Group<3>& group) {
    auto& [first, second, count] = group.kept;
    at::_foreach_add_(count, 1);
    at::_fused_adamw_(group.parameters, group.gradients, first, second, /*max_exp_avg_sqs=*/{},
                      count, step.learning_rate, o.beta1, o.beta2,
                      step.decays ? o.weight_decay : 0.0, o.epsilon, /*amsgrad=*/false,
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
    if (step.decays) at::_foreach_mul_(group.parameters, 1 - step.learning_rate * o.weight_decay);
    at::_foreach_add_(group.parameters, direction, -step.learning_rate);
    at::_foreach_lerp_(momentum, group.gradients, 1 - o.beta2);
  }
};

template <class Options>
bool decays_weights(const Options& options) {
  if constexpr (requires { options.weight_decay; }) return options.weight_decay > 0;
  return false;
}

/// What each parameter was registered as.
std::map<const at::TensorImpl*, models::Role> roles_of(const torch::nn::Module& model) {
  std::map<const at::TensorImpl*, models::Role> roles;
  const auto add = [&](const torch::nn::Module& module) {
    if (const auto* own = dynamic_cast<const models::Module*>(&module))
      for (const auto& parameter : own->own_parameters())
        roles[parameter.tensor.unsafeGetTensorImpl()] = parameter.role;
  };
  add(model);
  for (const auto& module : model.modules(/*include_self=*/false)) add(*module);
  return roles;
}

template <class Options>
class RuleOptimizer : public Optimizer {
 public:
  RuleOptimizer(const Options& options, const torch::nn::Module& model) : options_(options) {
    const auto roles = roles_of(model);
    for (const auto& item : model.named_parameters()) {
      const auto& parameter = item.value();
      if (!parameter.requires_grad()) continue;
      const auto role = roles.find(parameter.unsafeGetTensorImpl());
      TORCH_CHECK(role != roles.end(), "the parameter '", item.key(), "' states no role");
      const bool decays = decays_weights(options) && role->second == models::Role::matrix;
      Entry entry{.name = item.key(), .parameter = parameter, .decays = decays, .kept = {}};
      for (size_t i = 0; i < kKept; ++i)
        entry.kept[i] = Rule<Options>::kept[i].scalar
                            ? torch::zeros({}, torch::TensorOptions(parameter.device()))
                            : torch::zeros_like(parameter).detach();
      entries_.push_back(std::move(entry));
    }
  }

  void step(double learning_rate) override {
    torch::NoGradGuard no_grad;
    for (const bool decays : {true, false}) {
      auto group = group_of(decays);
      if (!group.parameters.empty())
        Rule<Options>::update(options_, {learning_rate, decays}, group);
    }
  }

  void clear_gradients() override {
    for (auto& entry : entries_) entry.parameter.mutable_grad().reset();
  }

  TensorVector gradients() const override {
    TensorVector result;
    for (const auto& entry : entries_)
      if (entry.parameter.grad().defined()) result.push_back(entry.parameter.grad());
    return result;
  }

  Tensors state() const override {
    Tensors state;
    for (const auto& entry : entries_)
      for (size_t i = 0; i < kKept; ++i)
        state[Rule<Options>::kept[i].name + ("." + entry.name)] = entry.kept[i];
    return state;
  }

 private:
  static constexpr size_t kKept = Rule<Options>::kept.size();
  struct Entry {
    std::string name;
    torch::Tensor parameter;
    bool decays;
    std::array<torch::Tensor, kKept> kept;
  };

  Group<kKept> group_of(bool decays) const {
    Group<kKept> group;
    for (const auto& entry : entries_) {
      if (entry.decays != decays || !entry.parameter.grad().defined()) continue;
      group.parameters.push_back(entry.parameter);
      group.gradients.push_back(entry.parameter.grad());
      for (size_t i = 0; i < kKept; ++i) group.kept[i].push_back(entry.kept[i]);
    }
    return group;
  }

  Options options_;
  std::vector<Entry> entries_;
};

}  // namespace

void Optimizer::load(const Tensors& saved) { load_tensors(state(), saved, "optimizer state"); }

std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options,
                                          const torch::nn::Module& model) {
  return std::visit(
      [&]<class Options>(const Options& chosen) -> std::unique_ptr<Optimizer> {
        return std::make_unique<RuleOptimizer<Options>>(chosen, model);
      },
      options);
}

}  // namespace ablate::training
