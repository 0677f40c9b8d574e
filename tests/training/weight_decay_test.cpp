#include <gtest/gtest.h>

#include <utility>

#include "models/feed_forward/feed_forward.h"
#include "tests/training/optimizer_kinds.h"
#include "training/optimizer.h"

namespace ablate::training {
namespace {

TEST(WeightDecay, ActsOnWhatIsRegisteredAsAMatrixWhateverItsNameAndShape) {
  struct Crossed : models::Module {
    torch::Tensor matrix_bias =
        register_parameter("matrix_bias", {2}, models::Constant{1}, models::Role::matrix);
    torch::Tensor table =
        register_parameter("table", {2, 2}, models::Constant{1}, models::Role::vector);
  } model;
  for (const auto& options :
       {OptimizerOptions(AdamW{Adam{}, 0.5}), OptimizerOptions(Sgd{.weight_decay = 0.5}),
        OptimizerOptions(Lion{.weight_decay = 0.5}), OptimizerOptions(Muon{.weight_decay = 0.5})}) {
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

/// The values of a 1 and a -1 in a matrix after a step at the rate 0.1, if their gradients are 1.
std::pair<double, double> left_of_two(const OptimizerOptions& options) {
  struct Two : models::Module {
    torch::Tensor matrix =
        register_parameter("matrix", {1, 2}, models::Constant{1}, models::Role::matrix);
  } model;
  torch::NoGradGuard no_grad;
  model.matrix.copy_(torch::tensor({{1.0F, -1.0F}}));
  model.matrix.mutable_grad() = torch::ones({1, 2});
  make_optimizer(options, model)->step(0.1);
  return {model.matrix[0][0].item<double>(), model.matrix[0][1].item<double>()};
}

TEST(WeightDecay, ThatIsCautiousLeavesWeightsAloneThatTheStepMovesAwayFromZero) {
  const AdamW adamw{Adam{}, 0.5};
  const Lion lion{.weight_decay = 0.5};
  const Muon muon{.weight_decay = 0.5};
  for (const OptimizerOptions& plain : std::vector<OptimizerOptions>{adamw, lion, muon}) {
    auto cautious = plain, none = plain;
    std::visit(
        [](auto& o) {
          if constexpr (requires { o.cautious_decay; }) o.cautious_decay = true;
        },
        cautious);
    std::visit(
        [](auto& o) {
          if constexpr (requires { o.weight_decay; }) o.weight_decay = 0;
        },
        none);
    const auto [shrinks, grows] = left_of_two(cautious);
    EXPECT_NEAR(shrinks, left_of_two(plain).first, 1e-6) << kind_of(plain);
    EXPECT_NEAR(shrinks, left_of_two(none).first - 0.1 * 0.5, 1e-6) << kind_of(plain);
    EXPECT_NEAR(grows, left_of_two(none).second, 1e-6) << kind_of(plain);
    EXPECT_GT(left_of_two(plain).second, grows + 0.04) << kind_of(plain);
  }
}

TEST(WeightDecay, ThatIsIndependentTakesTheSameShareAtEveryPeak) {
  const AdamW adamw{Adam{}, 0.5, false, /*independent_decay=*/true};
  for (const double peak : {1e-3, 1e-2}) {
    const auto scaled = with_scaled_decay(adamw, Cosine{{{.peak = peak}}});
    EXPECT_NEAR(std::get<AdamW>(scaled).weight_decay * peak, 0.5, 1e-9);
    EXPECT_EQ(std::get<AdamW>(with_scaled_decay(AdamW{Adam{}, 0.5}, Cosine{{{.peak = peak}}}))
                  .weight_decay,
              0.5);
  }
}

TEST(WeightDecay, LeavesBiasesOfExperts) {
  models::Mixture mixture(
      {.experts = 4, .active = 2, .d_hidden = 24, .router = models::SoftmaxRouter{}},
      {.d_model = 8, .causal = false, .layers = std::vector<models::LayerOptions>(1), .depth = 1});
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

}  // namespace
}  // namespace ablate::training
