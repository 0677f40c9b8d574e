#include "training/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "models/mixture.h"
#include "models/module.h"

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

/// Values that the generator golden/optimizers.py documents.
const nlohmann::json& golden_steps() {
  static const auto json = nlohmann::json::parse(
      std::ifstream(std::string(ABLATE_SOURCE) + "/tests/training/golden/optimizers.json"));
  return json;
}

/// One default-made value of every alternative.
template <class... Options>
std::vector<std::variant<Options...>> every_kind(const std::variant<Options...>&) {
  return {Options{}...};
}

std::string kind_of(const OptimizerOptions& options) {
  return std::visit([](const auto& chosen) { return std::string(chosen.name); }, options);
}

OptimizerOptions options_from(const nlohmann::json& json) {
  for (auto options : every_kind(OptimizerOptions{})) {
    if (json.at("kind") != kind_of(options)) continue;
    std::visit(
        [&](auto& chosen) {
          chosen.fields(
              chosen, [&](const char* key, auto& slot, const char*) { json.at(key).get_to(slot); });
        },
        options);
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

TEST(Optimizer, StepsAreThoseOfPyTorchAndOfLionsPaper) {
  for (const auto& one : golden_steps().at("cases")) {
    Affine model;
    set_start(model);
    const auto optimizer = make_optimizer(options_from(one.at("options")), model);
    double step = 0;
    for (const auto& expected : one.at("steps")) {
      set_gradients(model, ++step);
      optimizer->step(golden_steps().at("learning_rate"));
      // Adam counts its steps in single precision, as PyTorch does.
      EXPECT_LT(largest_error(model.matrix, expected[0]), 1e-7) << one.at("options") << step;
      EXPECT_LT(largest_error(model.bias, expected[1]), 1e-7) << one.at("options") << step;
    }
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
    for (int step = 0; step < 400; ++step) {
      optimizer->clear_gradients();
      ((model.matrix - 1).square().sum() + (model.bias + 1).square().sum()).backward();
      optimizer->step(0.01);
    }
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

TEST(Optimizer, TheStateOfAnotherKindIsRefusedByName) {
  Affine model;
  const auto sgd = make_optimizer(Sgd{}, model), lion = make_optimizer(Lion{}, model);
  try {
    lion->load(sgd->state());
    FAIL() << "Lion took the state of SGD";
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("has no optimizer state 'velocity.bias'"),
              std::string::npos)
        << error.what();
  }
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
    optimizer->step(0.1);
    EXPECT_FALSE(torch::equal(model.matrix, matrix)) << kind_of(options);
    EXPECT_TRUE(torch::equal(model.bias, before)) << kind_of(options);
    optimizer->clear_gradients();
    EXPECT_FALSE(model.matrix.grad().defined());
  }
}

TEST(Optimizer, DecaysWhatIsRegisteredAsAMatrixWhateverItsNameAndShape) {
  struct Crossed : models::Module {
    torch::Tensor matrix_bias =
        register_parameter("matrix_bias", {2}, models::Constant{1}, models::Role::matrix);
    torch::Tensor table =
        register_parameter("table", {2, 2}, models::Constant{1}, models::Role::vector);
  } model;
  for (const auto& options :
       {OptimizerOptions(AdamW{Adam{}, 0.5}), OptimizerOptions(Sgd{.weight_decay = 0.5}),
        OptimizerOptions(Lion{.weight_decay = 0.5})}) {
    torch::NoGradGuard no_grad;
    for (auto& parameter : model.parameters()) {
      parameter.fill_(1);
      parameter.mutable_grad() = torch::zeros_like(parameter);
    }
    make_optimizer(options, model)->step(0.1);
    EXPECT_NEAR(model.matrix_bias[0].item<double>(), 1 - 0.1 * 0.5, 1e-6) << kind_of(options);
    EXPECT_EQ(model.table[0][0].item<double>(), 1) << kind_of(options);
  }
}

TEST(Optimizer, BiasesOfExpertsDoNotDecay) {
  models::Mixture mixture(
      {.experts = 4, .active = 2, .d_hidden = 24, .router = models::SoftmaxRouter{}},
      {.d_model = 8, .layers = 1, .causal = false, .bias = true});
  for (auto& item : mixture.named_parameters()) {
    torch::NoGradGuard no_grad;
    item.value().fill_(1.0);
    item.value().mutable_grad() = torch::zeros_like(item.value());
  }
  make_optimizer(AdamW{Adam{}, 0.5}, mixture)->step(0.1);
  for (const auto& item : mixture.named_parameters())
    EXPECT_NEAR(item.value().view(-1)[0].item<double>(),
                item.key().ends_with("bias") ? 1.0 : 1.0 - 0.1 * 0.5, 1e-6)
        << item.key();
}

TEST(Optimizer, RefusesAParameterWithoutARole) {
  struct Foreign : torch::nn::Module {
    Foreign() { register_parameter("weight", torch::zeros({2, 2})); }
  } foreign;
  EXPECT_THROW(make_optimizer(Adam{}, foreign), c10::Error);
}

}  // namespace
}  // namespace ablate::training
