#include <gtest/gtest.h>

#include <vector>

#include "models/module.h"
#include "training/optimizer.h"

namespace ablate::training {
namespace {

struct OneMatrix : models::Module {
  OneMatrix() { register_parameter("matrix", {3, 5}, models::Constant{}, models::Role::matrix); }
};

/// Rows of 100, 10 and 1 times the same size, of which each leaks into the next.
torch::Tensor correlated_gradient() {
  const auto mix = torch::tensor({{100.0F, 0.0F, 0.0F}, {50.0F, 10.0F, 0.0F}, {0.0F, 5.0F, 1.0F}});
  return mix.mm(torch::randn({3, 5}));
}

TEST(Kron, StepsOfCorrelatedGradientsBecomeWhite) {
  torch::manual_seed(1);
  OneMatrix model;
  auto matrix = model.parameters()[0];
  const auto optimizer = make_optimizer(Kron{.beta1 = 0, .precondition_rate = 0.1}, model);
  auto covariance = torch::zeros({3, 3});
  constexpr int kSteps = 2000, kSettled = 1000;
  for (int step = 0; step < kSteps; ++step) {
    const auto before = matrix.detach().clone();
    matrix.mutable_grad() = correlated_gradient();
    optimizer->step(1.0);
    const auto moved = before - matrix.detach();  // [3, 5]
    if (step >= kSettled) covariance += moved.mm(moved.t()) / (5.0 * (kSteps - kSettled));
  }
  EXPECT_LT((covariance - torch::eye(3)).abs().max().item<double>(), 0.2) << covariance;
}

TEST(Kron, CorrectsItsFactorsInTheFirstUpdatesAndThenNowAndAgain) {
  torch::manual_seed(1);
  OneMatrix model;
  const auto optimizer =
      make_optimizer(Kron{.precondition_start = 2, .precondition_frequency = 4}, model);
  std::vector<int> corrected;
  for (int step = 1; step <= 9; ++step) {
    const auto before = optimizer->state().at("left.matrix").clone();
    model.parameters()[0].mutable_grad() = correlated_gradient();
    optimizer->step(0.1);
    if (!torch::equal(optimizer->state().at("left.matrix"), before)) corrected.push_back(step);
  }
  EXPECT_EQ(corrected, (std::vector{1, 2, 4, 8}));
}

TEST(Kron, AMapWithoutGradientsKeepsItsFactors) {
  OneMatrix model;
  const auto optimizer = make_optimizer(Kron{.weight_decay = 0.1}, model);
  for (int step = 0; step < 3; ++step) {
    model.parameters()[0].mutable_grad() = torch::zeros({3, 5});
    optimizer->step(0.1);
  }
  EXPECT_TRUE(torch::equal(optimizer->state().at("left.matrix").view({3, 3}), torch::eye(3)));
}

}  // namespace
}  // namespace ablate::training
