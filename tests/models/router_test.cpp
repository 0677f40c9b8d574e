#include "models/router.h"

#include <gtest/gtest.h>

#include <cmath>

#include "models/mixture.h"
#include "tests/models/models.h"

namespace ablate::models {
namespace {

StackOptions stack() { return {.d_model = 4, .layers = 1, .causal = false, .bias = false}; }

/// A mixture whose scores are its input: the router's matrix is the identity.
std::shared_ptr<Mixture> identity(MixtureOptions options) {
  torch::manual_seed(1);
  options.experts = 4;
  options.d_hidden = 3;
  auto mixture = initialized(std::make_shared<Mixture>(options, stack()));
  torch::NoGradGuard no_grad;
  mixture->named_parameters()["router.weight"].copy_(torch::eye(4));
  mixture->named_parameters()["up"].abs_();  // positive scores find hidden neurons at work
  return mixture;
}

struct Output {
  torch::Tensor y;
  RoutingStatistics routing;
};

Output run(Mixture& mixture, const torch::Tensor& scores, const ForwardContext& context = {}) {
  const auto [y, routing] = mixture.forward(scores.unsqueeze(0), context);
  return {y.squeeze(0), statistics_of(routing.value())};
}

/// Scores that send position i to expert `experts[i]` with almost all probability.
torch::Tensor towards(const std::vector<int64_t>& experts) {
  return torch::one_hot(torch::tensor(experts), 4).to(torch::kFloat) * 30;
}

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

Output limited(const std::vector<int64_t>& experts, LimitedCapacity capacity,
               const torch::Tensor& strength = {}) {
  auto mixture = identity({.active = 1, .router = SwitchRouter{.jitter = 0}, .capacity = capacity});
  torch::NoGradGuard no_grad;
  const auto scores = towards(experts);
  return run(*mixture, strength.defined() ? scores * strength.unsqueeze(1) : scores);
}

std::vector<bool> alive(const torch::Tensor& y) {
  std::vector<bool> rows;
  for (int64_t i = 0; i < y.size(0); ++i) rows.push_back(y[i].abs().max().item<double>() > 0);
  return rows;
}

TEST(Capacity, TheFirstInTheBatchFindRoom) {
  // Room for ceil(1 * 1 * 8 / 4) = 2 positions; expert 0 is wanted by four.
  const auto output = limited({0, 1, 0, 0, 2, 0, 3, 1}, {.evaluation = 1.0});
  EXPECT_EQ(alive(output.y), (std::vector<bool>{true, true, true, false, true, false, true, true}));
  EXPECT_NEAR(output.routing.dropped.item<double>(), 2.0 / 8, 1e-6);
}

TEST(Capacity, TheLikeliestFindRoomWhereAskedFor) {
  const auto strength = torch::tensor({.02, 1., .03, .1, 1., .2, 1., 1.});
  const auto output =
      limited({0, 1, 0, 0, 2, 0, 3, 1}, {.evaluation = 1.0, .keep = Keep::likeliest}, strength);
  EXPECT_EQ(alive(output.y), (std::vector<bool>{false, true, false, true, true, true, true, true}));
}

TEST(Capacity, IsRoundedUp) {
  // 7 positions of 4 experts: 1.75 each, so 2 find room.
  EXPECT_EQ(alive(limited({0, 0, 0, 1, 1, 2, 3}, {.evaluation = 1.0}).y),
            (std::vector<bool>{true, true, false, true, true, true, true}));
  // A product that is whole but for rounding: 0.7 * 40 / 4 is 7, not 8.
  const std::vector<int64_t> all(40, 0);
  const auto rows = alive(limited(all, {.evaluation = 0.7}).y);
  EXPECT_EQ(std::ranges::count(rows, true), 7);
}

TEST(Capacity, LargeEnoughIsDropless) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(4);
  const auto scores = torch::randn({9, 4});
  auto free = identity({.active = 2}),
       roomy = identity({.active = 2, .capacity = LimitedCapacity{.evaluation = 100}});
  EXPECT_EQ(largest_difference(run(*free, scores).y, run(*roomy, scores).y), 0.0);
}

TEST(Capacity, FirstChoicesGoBeforeSecondOnes) {
  torch::NoGradGuard no_grad;
  auto mixture = identity({.active = 2,
                           .router = SoftmaxRouter{.renormalize = false},
                           .capacity = LimitedCapacity{.evaluation = 0.5}});
  // Room for one position an expert. Position 0 has expert 1 as its second choice, position 1 as
  // its first: position 1 gets it.
  const auto scores =
      torch::tensor({{9.0, 8.0, 0.0, 0.0}, {0.0, 9.0, 8.0, 0.0}, {8.0, 0.0, 0.0, 9.0}});
  auto alone = identity({.active = 1, .router = SoftmaxRouter{.renormalize = false}});
  const auto first = run(*alone, scores).y;
  // (ceil(0.5 * 2 * 3 / 4) = 1.) Position 1 has both of its choices, the others the first only.
  const auto output = run(*mixture, scores).y;
  EXPECT_LT(largest_difference(output[0], first[0]), 1e-6);
  EXPECT_GT(largest_difference(output[1], first[1]), 1e-6);
  EXPECT_LT(largest_difference(output[2], first[2]), 1e-6);
}

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

TEST(Sigmoid, TheBiasRisesForIdleExperts) {
  auto mixture = identity({.active = 2, .router = SigmoidRouter{.bias_step = 0.25}});
  const auto bias = mixture->named_buffers()["router.bias"];
  run(*mixture, torch::randn({5, 4}), {.training = true, .seed = 1});
  EXPECT_EQ(bias.abs().max().item<double>(), 0.0);
  mixture->update_selection_bias(torch::tensor({2, 1, 1, 0}));
  EXPECT_LT(largest_difference(bias, torch::tensor({-0.25, 0.0, 0.0, 0.25})), 1e-9);
  EXPECT_FALSE(bias.requires_grad());
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

TEST(ExpertChoice, EveryExpertTakesItsShareOfRealPositions) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(4);
  auto mixture = identity({.active = 2, .router = ExpertChoiceRouter{}});
  const auto counts = run(*mixture, torch::randn({10, 4})).routing.counts;  // 2 * 10 / 4 = 5
  EXPECT_TRUE(torch::equal(counts, torch::full({4}, 5, torch::kLong)));
  EXPECT_FALSE(run(*mixture, torch::randn({10, 4})).routing.load.defined());
}

TEST(Hash, ChoosesByTheTokenAlone) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  Mixture mixture({.experts = 4, .active = 2, .d_hidden = 3, .router = HashRouter{}}, stack());
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

/// The hash that router.cpp documents, in integers that cannot overflow.
__extension__ using Wide = __int128;
int64_t hash_of(int64_t token, int64_t expert) {
  constexpr Wide kPrime = 2'147'483'647;
  Wide hash = (Wide(token) % kPrime * 1'000'003 + (expert + 1) * 7919) % kPrime * 48'271 % kPrime;
  hash = (hash ^ (hash >> 15)) % kPrime * 69'621 % kPrime;
  return static_cast<int64_t>((hash ^ (hash >> 13)) % kPrime * 39'373 % kPrime);
}

TEST(Hash, NoProductOverflows) {
  const torch::NoGradGuard no_grad;
  const auto router = make_router({.experts = 5, .active = 1, .router = HashRouter{}}, 4);
  const std::vector<int64_t> tokens{0, 1, 3511, 37'000, 250'000, 2'147'483'646};
  const auto chosen = router->forward({.token_ids = torch::tensor(tokens)}, {}).topk_idx;
  for (size_t i = 0; i < tokens.size(); ++i) {
    std::vector<int64_t> hashes;
    for (int64_t e = 0; e < 5; ++e) hashes.push_back(hash_of(tokens[i], e));
    EXPECT_EQ(chosen[static_cast<int64_t>(i)][0].item<int64_t>(),
              std::ranges::max_element(hashes) - hashes.begin())
        << tokens[i];
  }
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
