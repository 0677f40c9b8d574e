#include "training/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "models/feed_forward/feed_forward.h"
#include "models/module.h"
#include "models/parametrization.h"
#include "models/transformer.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tests/recorded.h"
#include "tests/says.h"
#include "tests/training/optimizer_kinds.h"

namespace ablate::training {
namespace {

/// A matrix and a bias of zeros.
class Affine : public models::Module {
 public:
  explicit Affine(torch::ScalarType type = torch::kDouble)
      : matrix(register_parameter("matrix", {2, 3}, models::Constant{}, models::Role::matrix)),
        bias(register_parameter("bias", {3}, models::Constant{}, models::Role::vector)) {
    to(type);
  }
  torch::Tensor matrix, bias;
};

constexpr int64_t kDrawnTargets = 3;  // DRAWN_TARGETS of golden/optimizers.py

/// Values that the generator golden/optimizers.py documents.
const nlohmann::json& golden_steps() { return recorded("training/golden/optimizers.json"); }

/// Reads a member of some options: a section of its own, a name or a number. Members that are not
/// named keep their defaults.
template <class Slot>
void read(const nlohmann::json& json, Slot& slot) {
  if constexpr (std::is_class_v<Slot>) {
    slot.fields(slot, [&](const char* key, auto& inner, auto&&...) {
      if (json.contains(key)) read(json.at(key), inner);
    });
  } else if constexpr (std::is_enum_v<Slot>) {
    for (const auto& [value, name] : names(Slot()))
      if (json == name) slot = value;
  } else {
    json.get_to(slot);
  }
}

OptimizerOptions options_from(const nlohmann::json& json) {
  for (auto options : every_kind(OptimizerOptions{})) {
    if (json.at("kind") != kind_of(options)) continue;
    std::visit([&](auto& chosen) { read(json, chosen); }, options);
    return options;
  }
  throw std::runtime_error("unknown kind");
}

/// The parameters and gradients of golden/optimizers.py.
void set_start(Affine& model) {
  torch::NoGradGuard no_grad;
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j)
      model.matrix[i][j] = std::cos(0.3 * static_cast<double>(i) + 0.1 * static_cast<double>(j));
  model.bias.copy_(torch::tensor({0.5, -0.25, 0.125}, torch::kDouble));
}

void set_gradients(Affine& model, double step) {
  auto matrix = torch::zeros_like(model.matrix), bias = torch::zeros_like(model.bias);
  for (int64_t j = 0; j < 3; ++j) {
    const auto column = static_cast<double>(j);
    for (int64_t i = 0; i < 2; ++i)
      matrix[i][j] = std::sin(1.1 * step + 0.7 * static_cast<double>(i) + 0.4 * column);
    bias[j] = std::sin(0.9 * step + 0.5 * column);
  }
  model.matrix.mutable_grad() = matrix;
  model.bias.mutable_grad() = bias;
}

double largest_error(const torch::Tensor& actual, const nlohmann::json& expected) {
  const auto wanted = torch::tensor(expected.get<std::vector<double>>(), torch::kDouble);
  return (actual.detach().flatten() - wanted).abs().max().item<double>();
}

/// Tells the model's matrix that it is `width` times wider than the base width.
void widen(const std::shared_ptr<Affine>& model, int64_t width) {
  models::Module stack;
  stack.register_module("model", model);
  models::parametrize(stack, {.d_model = width,
                              .causal = true,
                              .layers = std::vector<models::LayerOptions>(1),
                              .depth = 1,
                              .parametrization = models::MaximalUpdate{.base_width = 1}});
}

TEST(Optimizer, StepsAreThoseOfPyTorchAndOfLionsPaperAtEveryWidth) {
  for (const auto& one : golden_steps().at("cases")) {
    const auto owner = std::make_shared<Affine>();
    auto& model = *owner;
    widen(owner, one.at("width"));
    set_start(model);
    const auto optimizer = make_optimizer(options_from(one.at("options")), model);
    double step = 0;
    for (const auto& expected : one.at("steps")) {
      if (static_cast<int>(++step) % 2 == 1) {
        set_gradients(model, step + 0.5);
        optimizer->learn_curvature(kDrawnTargets);
      }
      set_gradients(model, step);
      optimizer->step(golden_steps().at("learning_rate"));
      // Adam counts its steps in single precision, as PyTorch does.
      EXPECT_LT(largest_error(model.matrix, expected[0]), 1e-7) << one.at("options") << step;
      EXPECT_LT(largest_error(model.bias, expected[1]), 1e-7) << one.at("options") << step;
    }
    const EvaluatedWeights evaluated(*optimizer);
    EXPECT_LT(largest_error(model.matrix, one.at("evaluated")[0]), 1e-7) << one.at("options");
    EXPECT_LT(largest_error(model.bias, one.at("evaluated")[1]), 1e-7) << one.at("options");
  }
}

TEST(Optimizer, TheGoldenStepsCoverEveryKind) {
  for (const auto& options : every_kind(OptimizerOptions{})) {
    bool covered = false;
    for (const auto& one : golden_steps().at("cases"))
      covered = covered || one.at("options").at("kind") == kind_of(options);
    EXPECT_TRUE(covered) << kind_of(options);
  }
}

TEST(Optimizer, OfEveryKindFindsTheMinimumOfAParabola) {
  for (const auto& options : every_kind(OptimizerOptions{})) {
    Affine model;
    const auto optimizer = make_optimizer(options, model);
    for (int step = 0; step < 1000; ++step) {
      optimizer->clear_gradients();
      ((model.matrix - 1).square().sum() + (model.bias + 1).square().sum()).backward();
      optimizer->step(0.01);
    }
    const EvaluatedWeights evaluated(*optimizer);
    EXPECT_LT((model.matrix - 1).abs().max().item<double>(), 0.05) << kind_of(options);
    EXPECT_LT((model.bias + 1).abs().max().item<double>(), 0.05) << kind_of(options);
  }
}

TEST(Optimizer, OfEveryKindGoesOnFromASavedStateBitForBit) {
  for (const auto& options : every_kind(OptimizerOptions{})) {
    Affine whole(torch::kFloat), resumed(torch::kFloat);
    const auto first = make_optimizer(options, whole);
    for (int step = 1; step <= 3; ++step) {
      set_gradients(whole, step);
      first->step(0.01);
    }
    std::map<std::string, torch::Tensor> saved;
    for (const auto& [name, tensor] : first->state()) saved[name] = tensor.clone();
    torch::NoGradGuard no_grad;
    resumed.matrix.copy_(whole.matrix);
    resumed.bias.copy_(whole.bias);
    const auto second = make_optimizer(options, resumed);
    second->load(saved);
    set_gradients(whole, 4);
    set_gradients(resumed, 4);
    first->step(0.01);
    second->step(0.01);
    EXPECT_TRUE(torch::equal(whole.matrix, resumed.matrix)) << kind_of(options);
    EXPECT_TRUE(torch::equal(whole.bias, resumed.bias)) << kind_of(options);
  }
}

TEST(Optimizer, EvaluatedWeightsAreTakenBackBitForBit) {
  for (const auto& options : every_kind(OptimizerOptions{})) {
    Affine model(torch::kFloat);
    const auto optimizer = make_optimizer(options, model);
    for (int step = 1; step <= 3; ++step) {
      set_gradients(model, step);
      optimizer->step(0.01);
    }
    const auto trained = model.matrix.detach().clone();
    {
      const EvaluatedWeights evaluated(*optimizer);
      EXPECT_EQ(torch::equal(model.matrix, trained), !std::holds_alternative<ScheduleFree>(options))
          << kind_of(options);
    }
    EXPECT_TRUE(torch::equal(model.matrix, trained)) << kind_of(options);
  }
}

TEST(Optimizer, TheStateOfAnotherKindIsRefusedByName) {
  Affine model;
  const auto sgd = make_optimizer(Sgd{}, model), lion = make_optimizer(Lion{}, model);
  EXPECT_TRUE(says(refusal_of<c10::Error>([&] { lion->load(sgd->state()); }),
                   "has no optimizer state 'velocity.bias'"));
}

TEST(Optimizer, FrozenParametersAndThoseWithoutAGradientStay) {
  for (const auto& options : every_kind(OptimizerOptions{})) {
    Affine model;
    set_start(model);
    model.bias.set_requires_grad(false);
    const auto optimizer = make_optimizer(options, model);
    const auto before = model.bias.clone(), matrix = model.matrix.detach().clone();
    optimizer->step(0.1);
    EXPECT_TRUE(torch::equal(model.matrix, matrix)) << kind_of(options);
    EXPECT_TRUE(optimizer->gradients().empty());
    model.matrix.mutable_grad() = torch::ones_like(model.matrix);
    for (int step = 0; step < 2; ++step) optimizer->step(0.1);  // SOAP's first one only looks
    EXPECT_FALSE(torch::equal(model.matrix, matrix)) << kind_of(options);
    EXPECT_TRUE(torch::equal(model.bias, before)) << kind_of(options);
    optimizer->clear_gradients();
    EXPECT_FALSE(model.matrix.grad().defined());
  }
}

/// One parameter of every role, each a matrix of ones.
struct EveryRole : models::Module {
  EveryRole() {
    for (const auto& [name, role] : all()) ones(name, role);
  }
  static std::map<std::string, models::Role> all() {
    return {{"embedding", models::Role::embedding},
            {"gate", models::Role::gate},
            {"matrix", models::Role::matrix},
            {"output", models::Role::output},
            {"vector", models::Role::vector}};
  }
  void ones(const std::string& name, models::Role role) {
    register_parameter(name, {2, 2}, models::Constant{1}, role).mutable_grad() =
        torch::tensor({{1.0F, 2.0F}, {3.0F, 5.0F}});
  }
};

TEST(Optimizer, ARateMultipliesTheStepsOfItsKindAndLeavesDecoupledDecayAlone) {
  const LrMultipliers rates{.embeddings = 2, .matrices = 3, .output = 5, .vectors = 7};
  const std::map<std::string, double> factors{
      {"embedding", 2}, {"gate", 3}, {"matrix", 3}, {"output", 5}, {"vector", 7}};
  for (auto options : every_kind(OptimizerOptions{})) {
    std::visit(
        [](auto& o) {
          if constexpr (requires { o.weight_decay; }) o.weight_decay = 0;
        },
        options);
    EveryRole plain, scaled;
    const auto slow = make_optimizer(options, plain), fast = make_optimizer(options, scaled, rates);
    for (int step = 0; step < 2; ++step) {
      slow->step(0.01);
      fast->step(0.01);
    }
    for (const auto& [name, factor] : factors) {
      const auto step = plain.named_parameters()[name] - 1;
      EXPECT_GT(step.abs().max().item<double>(), 1e-3) << kind_of(options) << " " << name;
      EXPECT_LT((scaled.named_parameters()[name] - 1 - factor * step).abs().max().item<double>(),
                factor * 1e-6)
          << kind_of(options) << " " << name;
    }
  }
  for (const auto& options :
       {OptimizerOptions(AdamW{Adam{}, 0.5}), OptimizerOptions(Lion{.weight_decay = 0.5}),
        OptimizerOptions(Muon{.weight_decay = 0.5})}) {
    EveryRole model;
    torch::NoGradGuard no_grad;
    for (auto& parameter : model.parameters()) parameter.mutable_grad().zero_();
    make_optimizer(options, model, rates)->step(0.1);
    for (const auto& [name, factor] : factors)
      EXPECT_NEAR(model.named_parameters()[name][0][0].item<double>(),
                  name == "vector" ? 1 : 1 - 0.1 * 0.5, 1e-6)
          << kind_of(options) << " " << name;
  }
}

TEST(Optimizer, MuonSoapAndKronMoveMatricesAndAdamWTheRest) {
  for (const auto& [options, kept] : std::vector<std::pair<OptimizerOptions, std::string>>{
           {Muon{}, "momentum."}, {Soap{}, "left_basis."}, {Kron{}, "left."}}) {
    EveryRole model, alike;
    const auto chosen = make_optimizer(options, model),
               adam = make_optimizer(AdamW{Adam{}, 0}, alike);
    chosen->step(0.01);
    adam->step(0.01);
    for (const auto& [name, role] : EveryRole::all()) {
      const bool matrix = models::is_linear_map(role);
      EXPECT_EQ(chosen->state().contains(kept + name), matrix) << name;
      EXPECT_EQ(torch::equal(model.named_parameters()[name], alike.named_parameters()[name]),
                !matrix)
          << name;
    }
  }
}

/// The order of the eigenvalues changes after the seventh gradient.
TEST(Optimizer, SoapFollowsEigenbasesThatTurn) {
  struct One : models::Module {
    One() { register_parameter("matrix", {4, 5}, models::Constant{}, models::Role::matrix); }
  } model;
  model.to(torch::kDouble);
  const auto matrix = model.parameters()[0];
  const auto optimizer = make_optimizer(
      Soap{.beta1 = 0.9, .beta2 = 0.7, .epsilon = 1e-7, .precondition_frequency = 2}, model);
  double step = 0;
  for (const auto& expected : golden_steps().at("soap_that_turns")) {
    ++step;
    const auto rows = torch::arange(4, torch::kDouble).unsqueeze(1),
               columns = torch::arange(5, torch::kDouble);
    const auto large = rows.eq(step <= 7 ? 0 : 3);
    const auto gradient = (1.1 * step + 0.7 * rows * rows + 0.4 * columns * rows + columns).sin() *
                          torch::where(large, 5.0, 1.0);
    auto trained = matrix;
    trained.mutable_grad() = gradient;
    optimizer->step(golden_steps().at("learning_rate"));
    EXPECT_LT(largest_error(matrix, expected), 1e-7) << step;
  }
}

/// What one step adds to the parameters of a model of width 32, whose gradients are all alike.
std::map<std::string, torch::Tensor> steps_of(const OptimizerOptions& options,
                                              const models::ParametrizationOptions& width) {
  auto shape = models::tiny(
      "family: decoder_only, d_model: 32, layers: 1, attention.gate: head, tying: none, "
      "feed_forward: {kind: moe, experts: 2, active: 1, d_hidden: 32}");
  shape.parametrization = width;
  const auto model = models::make(shape, 8);
  std::map<std::string, torch::Tensor> steps;
  for (auto& item : model->named_parameters()) {
    const auto number = torch::arange(item.value().numel(), torch::kFloat);
    item.value().mutable_grad() = (number * 0.7).sin().view_as(item.value());
    steps[item.key()] = item.value().detach().clone();
  }
  make_optimizer(options, *model)->step(0.01);
  for (auto& item : model->named_parameters())
    steps[item.key()] = item.value().detach() - steps[item.key()];
  return steps;
}

/// Four times the base width: an orthogonal step of a matrix that grows on both sides wants half.
TEST(Optimizer, InAWiderModelStepsOfMatricesShrinkAsTheirSizeAsksFor) {
  for (const OptimizerOptions& options :
       {OptimizerOptions(Adam{}), OptimizerOptions(Lion{}), OptimizerOptions(Muon{})}) {
    const auto standard = steps_of(options, models::Standard{}),
               narrowed = steps_of(options, models::MaximalUpdate{.base_width = 8});
    for (const auto& [name, step] : standard) {
      const bool gate = name.ends_with("router.weight") || name.ends_with("gate.weight");
      const bool matrix =
          !gate && (name.ends_with("weight") || name.ends_with("up") || name.ends_with("down")) &&
          name.find("norm") == std::string::npos;
      const double matrices = std::holds_alternative<Muon>(options) ? 0.5 : 0.25;
      const double factor = gate ? 0.25 : matrix ? matrices : 1;
      EXPECT_LT((narrowed.at(name) - factor * step).abs().max().item<double>(), 1e-6)
          << kind_of(options) << " " << name;
    }
  }
}

TEST(Optimizer, RefusesAParameterWithoutARole) {
  struct Foreign : torch::nn::Module {
    Foreign() { register_parameter("weight", torch::zeros({2, 2})); }
  } foreign;
  EXPECT_THROW(make_optimizer(Adam{}, foreign), c10::Error);
}

}  // namespace
}  // namespace ablate::training
