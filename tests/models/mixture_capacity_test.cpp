#include <gtest/gtest.h>

#include "models/feed_forward/feed_forward.h"
#include "tests/models/routed.h"

namespace ablate::models {
namespace {

RoutedRun limited(const std::vector<int64_t>& experts, LimitedCapacity capacity,
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

TEST(Capacity, TheFirstInTheSequenceFindRoom) {
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

/// Two sequences: a full one whose positions all want one expert, and two positions and padding.
torch::Tensor two_sequences(Mixture& mixture, bool training) {
  const auto scores = torch::stack({towards({0, 0, 0, 0}), towards({0, 1, 0, 0})});
  const auto mask = torch::tensor({{true, true, true, true}, {true, true, false, false}});
  return mixture.forward(scores, {.training = training, .seed = 1, .padding_mask = mask})
      .output.abs()
      .amax(-1)
      .gt(0);
}

TEST(Capacity, IsOfTheBatchInTrainingAndOfEverySequenceInEvaluation) {
  const torch::NoGradGuard no_grad;
  const MixtureOptions options{.active = 1,
                               .router = SwitchRouter{.jitter = 0},
                               .capacity = LimitedCapacity{.factor = 2, .evaluation = 2}};
  // ceil(2 * 6 / 4) = 3 of the batch; ceil(2 * 4 / 4) = 2 of one sequence, 1 of the other.
  EXPECT_TRUE(
      torch::equal(two_sequences(*identity(options), true),
                   torch::tensor({{true, true, true, false}, {false, true, false, false}})));
  EXPECT_TRUE(
      torch::equal(two_sequences(*identity(options), false),
                   torch::tensor({{true, true, false, false}, {true, true, false, false}})));
}

TEST(Capacity, OfADecoderIsThatOfThePositionsSoFar) {
  const torch::NoGradGuard no_grad;
  auto mixture = identity({.active = 2, .capacity = LimitedCapacity{.evaluation = 0.5}},
                          /*causal=*/true);
  const auto wanted = torch::tensor({{0, 1}, {1, 2}, {3, 0}, {0, 1}, {2, 3}});
  const auto scores =
      torch::zeros({5, 4}).scatter(1, wanted, torch::tensor({9.0F, 8.0F}).expand({5, 2}));
  const auto [y, routing] = mixture->forward(scores.unsqueeze(0), {});
  // At position n an expert has room if fewer than ceil(n / 4) have wanted it; 4: an empty slot.
  EXPECT_TRUE(
      torch::equal(routing->kept_idx, torch::tensor({{0, 1}, {4, 2}, {3, 4}, {4, 4}, {2, 3}})));
}

TEST(Capacity, HasNoLimitInEvaluationUnlessOneIsGiven) {
  const torch::NoGradGuard no_grad;
  const MixtureOptions options{
      .active = 1, .router = SwitchRouter{.jitter = 0}, .capacity = LimitedCapacity{.factor = 0.1}};
  EXPECT_TRUE(torch::equal(two_sequences(*identity(options), false),
                           torch::tensor({{true, true, true, true}, {true, true, false, false}})));
}

}  // namespace
}  // namespace ablate::models
