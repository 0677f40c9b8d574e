#include <gtest/gtest.h>

#include <cmath>

#include "models/feed_forward/router.h"
#include "tests/models/routed.h"

namespace ablate::models {
namespace {

TEST(Load, IsOneAtBalanceForAnyNumberOfActiveExperts) {
  for (const int64_t active : {1, 2, 3, 4}) {
    auto mixture = identity({.active = active, .router = SoftmaxRouter{.renormalize = false}});
    // Every expert is first, second, third and last once, with the same four probabilities.
    const auto row = torch::tensor({3.0, 2.0, 1.0, 0.0});
    const auto scores = torch::stack({row, row.roll(1, 0), row.roll(2, 0), row.roll(3, 0)});
    EXPECT_NEAR(run(*mixture, scores).routing.load.item<double>(), 1.0, 1e-6) << active;
  }
}

TEST(Load, IsTheNumberOfExpertsWhereOneGetsAll) {
  auto mixture = identity({.active = 1, .router = SwitchRouter{.jitter = 0}});
  EXPECT_NEAR(run(*mixture, towards({2, 2, 2})).routing.load.item<double>(), 4.0, 1e-6);
}

TEST(ZLoss, IsTheSquareOfTheLogarithmOfTheExpertsAtZeroScores) {
  auto mixture = identity({.active = 2});
  const auto zeros = torch::zeros({3, 4});
  EXPECT_NEAR(run(*mixture, zeros).routing.z.item<double>(), std::pow(std::log(4.0), 2), 1e-6);
}

TEST(ZLoss, SeesAShiftOfAllScoresThatRoutingDoesNot) {
  auto mixture = identity({.active = 2});
  torch::manual_seed(2);
  const auto x = torch::randn({5, 4});
  const auto first = run(*mixture, x);
  auto weight = mixture->named_parameters()["router.weight"];
  {
    // A row of ones in the input's place would change the experts' input too, so shift the scores
    // by adding the same vector to every expert's row.
    torch::NoGradGuard no_grad;
    weight.add_(torch::tensor({1.0, 2.0, -1.0, 0.5}).unsqueeze(0));
  }
  const auto second = run(*mixture, x);
  EXPECT_LT(largest_difference(first.y, second.y), 1e-5);
  EXPECT_TRUE(torch::equal(first.routing.counts, second.routing.counts));
  EXPECT_GT(largest_difference(first.routing.z, second.routing.z), 1e-2);
}

TEST(AuxLoss, IsTheSumOfBothTimesTheirFactors) {
  auto mixture = identity({.active = 2, .balance = {.load = 0.5, .z = 0.25}});
  torch::manual_seed(2);
  const auto routing = run(*mixture, torch::randn({5, 4})).routing;
  EXPECT_NEAR(routing.aux_loss.item<double>(),
              0.5 * routing.load.item<double>() + 0.25 * routing.z.item<double>(), 1e-6);
}

TEST(AuxLoss, ReachesTheRouterThroughTheProbabilitiesAlone) {
  auto mixture =
      identity({.active = 1, .router = SwitchRouter{.jitter = 0}, .balance = {.load = 1, .z = 0}});
  run(*mixture, torch::tensor({{2.0, 1.0, 0.0, 0.0}, {3.0, 1.0, 0.0, 0.0}}))
      .routing.aux_loss.backward();
  // Expert 0 got everything, so its probability is what falls.
  const auto gradient = mixture->named_parameters()["router.weight"].grad();
  EXPECT_GT(gradient[0].sum().item<double>(), 0.0);
  EXPECT_LT(gradient[1].sum().item<double>(), 0.0);
}

/// Weights of both experts chosen: e / (1 + e) and 1 / (1 + e) for scores one apart.
TEST(Importance, IsOnePlusTheSquaredVariationOfSummedWeights) {
  auto mixture = identity(
      {.active = 2, .router = SoftmaxRouter{}, .balance = {.load = 0, .z = 0, .importance = 0.5}});
  const double high = std::exp(1.0) / (1 + std::exp(1.0)), low = 1 - high;
  const auto scores = torch::tensor({{1.0, 0.0, -9.0, -9.0}, {-9.0, 1.0, 0.0, -9.0}});
  const double square = std::pow(high, 2) + 1 + std::pow(low, 2);  // expert 1: low + high = 1
  EXPECT_NEAR(run(*mixture, scores).routing.aux_loss.item<double>(), 0.5 * 4 * square / 4, 1e-6);
  const auto even = torch::tensor({{2.0, 2.0, -9.0, -9.0}, {-9.0, -9.0, 2.0, 2.0}});
  EXPECT_NEAR(run(*mixture, even).routing.aux_loss.item<double>(), 0.5, 1e-6);
}

}  // namespace
}  // namespace ablate::models
