#include "models/feed_forward/router.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/models/routed.h"

namespace ablate::models {
namespace {

TEST(Gshard, TheSecondExpertIsUsedAsOftenAsTwiceItsWeight) {
  torch::NoGradGuard no_grad;
  auto mixture = identity({.active = 2, .router = GshardRouter{}});
  // Weights 3/4 and 1/4: used with probability 1/2.
  const auto scores =
      torch::tensor({std::log(3.0), 0.0, -20.0, -20.0}).to(torch::kFloat).expand({4000, 4});
  const auto counts = run(*mixture, scores, {.training = true, .seed = 7}).routing.counts;
  EXPECT_EQ(counts[0].item<int64_t>(), 4000);
  EXPECT_NEAR(counts[1].item<double>(), 2000, 5 * std::sqrt(1000.0));
  EXPECT_EQ(run(*mixture, scores).routing.counts[1].item<int64_t>(), 4000);
}

/// Algorithm 1 of Lepikhin et al. 2020, times E^2, so that it is 1 at balance.
TEST(Gshard, ItsLoadCountsFirstChoices) {
  const torch::NoGradGuard no_grad;
  const auto mixture = identity({.active = 2, .router = GshardRouter{}});
  const auto logits = 2 * torch::randn({10, 4}), gates = logits.softmax(-1);
  const auto first = torch::one_hot(gates.argmax(-1), 4).to(torch::kFloat);
  const auto load = 4 * (first.mean(0) * gates.mean(0)).sum().item<double>();
  for (const bool training : {false, true})
    EXPECT_NEAR(
        run(*mixture, logits, {.training = training, .seed = 3}).routing.load.item<double>(), load,
        1e-5);
}

TEST(Sigmoid, TheBiasSelectsAndNeverWeighs) {
  torch::NoGradGuard no_grad;
  auto mixture = identity({.active = 2, .router = SigmoidRouter{}});
  const auto scores = torch::tensor({{3.0, 2.0, 1.0, 0.0}});
  const auto before = run(*mixture, scores);
  auto bias = mixture->named_buffers()["router.bias"];
  bias.fill_(1000.0);
  EXPECT_LT(largest_difference(run(*mixture, scores).y, before.y), 1e-6);
  bias[3] = 2000.0;
  EXPECT_TRUE(torch::equal(run(*mixture, scores).routing.counts,
                           torch::tensor({1, 0, 0, 1}, torch::kLong)));
}

/// sigmoid(-200) is 0 in single precision, and its share of a sum of such 0 / 0.
TEST(Sigmoid, WeightsThatVanishLeaveNumbers) {
  torch::NoGradGuard no_grad;
  auto mixture = identity({.active = 2, .router = SigmoidRouter{}});
  const auto out = run(*mixture, torch::full({3, 4}, -200.0));
  EXPECT_TRUE(out.y.isfinite().all().item<bool>());
}

TEST(Sigmoid, TheBiasRisesForIdleExperts) {
  auto mixture = identity({.active = 2, .router = SigmoidRouter{.bias_step = 0.25}});
  const auto bias = mixture->named_buffers()["router.bias"];
  run(*mixture, torch::randn({5, 4}), {.training = true, .seed = 1});
  EXPECT_EQ(bias.abs().max().item<double>(), 0.0);
  mixture->update_selection_bias(torch::tensor({2, 1, 1, 0}));
  EXPECT_LT(largest_difference(bias, torch::tensor({-0.25, 0.0, 0.0, 0.25})), 1e-9);
  EXPECT_FALSE(bias.requires_grad());
}

TEST(Noisy, TheLoadOfTrainingIsSmoothAndOneAtBalance) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(2);
  auto mixture = identity({.active = 2, .router = NoisyRouter{}});
  const auto smooth = [&](const torch::Tensor& scores) {
    return run(*mixture, scores, {.training = true, .seed = 5}).routing.load.item<double>();
  };
  // Noise of size softplus(0) + 0.01 decides between equal scores.
  EXPECT_NEAR(smooth(torch::zeros({4000, 4})), 1.0, 0.01);
  // Two experts far ahead are chosen always: 4 (1 + 1) / (1 + 1)^2.
  EXPECT_NEAR(smooth(torch::tensor({90.0, 90.0, 0.0, 0.0}).expand({50, 4})), 2.0, 1e-3);
}

/// What the router of a mixture says of positions that all have these scores.
RouterOutput trained_choice(Mixture& mixture, const torch::Tensor& scores, int64_t positions) {
  return mixture
      .forward(scores.expand({1, positions, 4}).contiguous(), {.training = true, .seed = 9})
      .routing->router;
}

TEST(Noisy, AnExpertIsChosenAsOftenAsItsLoadExpects) {
  const torch::NoGradGuard no_grad;
  auto mixture = identity({.active = 2, .router = NoisyRouter{}});
  const auto choice = trained_choice(*mixture, torch::tensor({1.0, 0.5, 0.0, -0.5}), 20'000);
  const auto chosen = torch::one_hot(choice.topk_idx, 4).sum(1).to(torch::kFloat).mean(0);
  EXPECT_LT(largest_difference(chosen, choice.selection_prob.mean(0)), 5 * 0.5 / std::sqrt(2e4));
  EXPECT_GT((chosen[0] - chosen[3]).item<double>(), 0.1);
  // Scores gain a normal number of size softplus(0) + 0.01.
  const auto noise = choice.logits.select(1, 0) - 1;
  EXPECT_NEAR(noise.mean().item<double>(), 0, 0.03);
  EXPECT_NEAR(noise.std().item<double>(), std::log(2.0) + 0.01, 0.02);
}

TEST(Jitter, MultipliesTheRoutersInputByUniformNumbersAroundOne) {
  const torch::NoGradGuard no_grad;
  for (const RouterOptions& router :
       {RouterOptions(SoftmaxRouter{.renormalize = false, .jitter = 0.2}),
        RouterOptions(SwitchRouter{.jitter = 0.2})}) {
    auto mixture = identity({.active = 1, .router = router});
    const auto factor = trained_choice(*mixture, torch::ones({4}), 5'000).logits;
    EXPECT_GE(factor.min().item<double>(), 0.8);
    EXPECT_LE(factor.max().item<double>(), 1.2);
    EXPECT_NEAR(factor.mean().item<double>(), 1, 0.005);
    EXPECT_NEAR(factor.std().item<double>(), 0.2 / std::sqrt(3.0), 0.005);
  }
}

TEST(ExpertChoice, EveryExpertTakesItsShareOfPositionsThatWantItMost) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(4);
  auto mixture = identity({.active = 2, .router = ExpertChoiceRouter{}});
  const auto scores = torch::randn({9, 4}), gates = scores.softmax(-1);
  const auto least = std::get<0>(gates.topk(5, 0))[-1];  // ceil(2 * 9 / 4) = 5 of each
  const auto [y, routing] = mixture->forward(scores.unsqueeze(0), {});
  EXPECT_TRUE(torch::equal(routing->kept_idx.ne(4), gates.ge(least)));
  EXPECT_FALSE(statistics_of(*routing).load.defined());
}

TEST(ExpertChoice, ChoosesAmongTheBatchInTrainingAndWithinEverySequenceInEvaluation) {
  const torch::NoGradGuard no_grad;
  const auto mixture = identity({.active = 1, .router = ExpertChoiceRouter{}});
  // Expert 0 wants every position of the first sequence more than any of the second.
  const auto scores = torch::stack({towards({0, 0, 0, 0}), towards({1, 2, 3, 1})});
  const auto of_first = [&](bool training) {
    const auto [y, routing] = mixture->forward(scores, {.training = training, .seed = 1});
    return routing->kept_idx.view({2, 4, 4}).eq(0).sum(
        at::IntArrayRef{1, 2});  // positions of each sequence
  };
  EXPECT_TRUE(torch::equal(of_first(true), torch::tensor({2, 0})));
  EXPECT_TRUE(torch::equal(of_first(false), torch::tensor({1, 1})));
}

TEST(Hash, ChoosesByTheTokenAlone) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  Mixture mixture({.experts = 4, .active = 2, .d_hidden = 3, .router = HashRouter{}},
                  mixture_stack());
  initialize(mixture, 1);
  const auto run_ids = [&](const torch::Tensor& x, const torch::Tensor& ids) {
    return statistics_of(mixture.forward(x, {.token_ids = ids}).routing.value()).counts;
  };
  const auto same = torch::full({1, 6}, 17, torch::kLong);
  const auto counts = run_ids(torch::randn({1, 6, 4}), same);
  EXPECT_TRUE(torch::equal(counts, run_ids(torch::randn({1, 6, 4}), same)));
  EXPECT_EQ(counts.max().item<int64_t>(), 6);
  EXPECT_EQ(counts.sum().item<int64_t>(), 12);
  const auto all = run_ids(torch::randn({1, 4000, 4}), torch::arange(4000).unsqueeze(0));
  // Each token has each expert with probability 1/2.
  EXPECT_LT((all - 2000).abs().max().item<int64_t>(), 5 * 32);
}

TEST(Router, ItsStartIsSmallAndCutAtTwoDeviations) {
  const auto router = initialized(make_router({.experts = 64}, 256));
  const auto weight = router->parameters()[0];
  const double deviation = std::sqrt(0.1 / 256);
  EXPECT_LT(weight.abs().max().item<double>(), 2 * deviation);
  // A normal distribution cut at two deviations keeps 0.8796 of its deviation.
  EXPECT_NEAR(weight.std().item<double>(), 0.8796 * deviation, 0.01 * deviation);
}

TEST(Router, RoutesAlikeInBfloat16) {
  torch::NoGradGuard no_grad;
  auto mixture = identity({.active = 2});
  torch::manual_seed(4);
  const auto x = torch::randn({200, 4}).to(torch::kBFloat16);
  EXPECT_TRUE(torch::equal(run(*mixture, x).routing.counts,
                           run(*mixture, x.to(torch::kFloat)).routing.counts));
}

}  // namespace
}  // namespace ablate::models
