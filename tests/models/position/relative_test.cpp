#include <gtest/gtest.h>

#include <map>

#include "models/position/position.h"
#include "tests/models/position/contexts.h"

namespace ablate::models {
namespace {

TEST(Alibi, SlopesAreThoseOfThePaperForAnyNumberOfHeads) {
  expect_near(alibi_slopes(8),
              numbers({.5, .25, .125, .0625, .03125, .015625, .0078125, .00390625}));
  expect_near(alibi_slopes(6), numbers({.25, .0625, .015625, .00390625, .5, .125}));
  expect_near(alibi_slopes(2), numbers({.0625, .00390625}));
  expect_near(alibi_slopes(12).slice(0, 8), numbers({.70710678, .35355339, .17677670, .08838835}));
}

TEST(Alibi, LowersScoresByTheDistance) {
  const auto bias = make_position(Alibi{}, kEncoder)->bias(torch::arange(3), torch::arange(3));
  expect_near(bias[0], numbers({0, -1, -2, -1, 0, -1, -2, -1, 0}).reshape({3, 3}) * .0625);
}

TEST(Alibi, TwoSidedHeadsLookToOneSideEach) {
  const auto bias = make_position(Alibi{.encoder = Sides::two_sided}, kEncoder)
                        ->bias(torch::arange(4), torch::arange(4));
  EXPECT_TRUE(torch::equal(bias[0].isinf(), torch::ones({4, 4}).triu(1).to(torch::kBool)));
  EXPECT_TRUE(torch::equal(bias[1].isinf(), torch::ones({4, 4}).tril(-1).to(torch::kBool)));
}

TEST(T5, CausalBucketsStartWhereT5sDo) {
  std::vector<int64_t> starts;
  const auto buckets = t5_buckets(-torch::arange(200), {}, true);
  for (int64_t n = 0; n < 200; ++n)
    if (n == 0 || buckets[n].item<int64_t>() != buckets[n - 1].item<int64_t>()) starts.push_back(n);
  std::vector<int64_t> expected;
  for (int64_t n = 0; n < 16; ++n) expected.push_back(n);
  for (const int64_t n : {16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113})
    expected.push_back(n);
  EXPECT_EQ(starts, expected);
  EXPECT_EQ(t5_buckets(torch::tensor({5}), {}, true).item<int64_t>(), 0);  // never seen: the future
}

/// Of these distances in both directions.
void expect_buckets(const T5Bias& options, const std::map<int64_t, int64_t>& expected) {
  for (const auto& [distance, bucket] : expected)
    EXPECT_EQ(t5_buckets(torch::tensor({distance}), options, false).item<int64_t>(), bucket)
        << distance;
}

TEST(T5, BidirectionalBucketsAreT5s) {
  expect_buckets({}, {{-128, 15},
                      {-64, 14},
                      {-16, 10},
                      {-8, 8},
                      {-1, 1},
                      {0, 0},
                      {1, 17},
                      {7, 23},
                      {8, 24},
                      {16, 26},
                      {64, 30},
                      {128, 31}});
}

// Of six buckets an encoder has three for each side, one of them for a distance of its own; the
// third begins at sqrt(128) = 11.3, as transformers' _relative_position_bucket has it.
TEST(T5, BucketsNeedNoPowerOfTwo) {
  const T5Bias six{.buckets = 6};
  expect_buckets(
      six, {{-128, 2}, {-12, 2}, {-11, 1}, {-1, 1}, {0, 0}, {1, 4}, {11, 4}, {12, 5}, {500, 5}});
  EXPECT_EQ(t5_buckets(torch::tensor({-2}), six, true).item<int64_t>(), 2);
  EXPECT_EQ(t5_buckets(torch::tensor({-128}), six, true).item<int64_t>(), 5);
}

TEST(Fire, IsTheNetworkOfTheRelativeDistance) {
  const auto position = initialized(make_position(Fire{.hidden = 3}, kDecoder), 2);
  const auto p = position->named_parameters();
  const auto bias = position->bias(torch::tensor({600}), torch::tensor({590})).flatten();
  const auto share = (p["c"] * 10 + 1).log() / (p["c"] * 600 + 1).log();
  const auto hidden = torch::relu(p["up"].flatten() * share + p["up_bias"]);
  expect_near(bias.detach(), (p["down"].mv(hidden) + p["down_bias"]).detach());
}

TEST(Kerple, IsAnOrderedFamilyOfDistances) {
  for (const auto kernel : {KerpleKernel::logarithmic, KerpleKernel::power}) {
    const auto position = initialized(make_position(Kerple{.kernel = kernel}, kEncoder));
    {
      torch::NoGradGuard no_grad;
      position->named_parameters()["shape"].fill_(0.5413);  // its softplus is 1
    }
    const auto bias = position->bias(torch::tensor({0}), torch::arange(9)).detach();  // [H, 1, 9]
    EXPECT_EQ(bias.select(2, 0).abs().max().item<double>(), 0.0);
    EXPECT_LT(bias.diff(1, 2).max().item<double>(), 0.0);
  }
}

TEST(Sandwich, IsTheProductOfSinusoidalVectorsOverAnEighthOfTheHeadsShare) {
  const auto product = embedding(Sinusoidal{}, 9, 16).dot(embedding(Sinusoidal{}, 4, 16)) - 8;
  for (const int64_t heads : {2, 6}) {
    auto context = kEncoder;
    context.heads = heads;
    const auto bias =
        make_position(Sandwich{.width = 16}, context)->bias(torch::tensor({9}), torch::tensor({4}));
    const auto share = torch::arange(1, heads + 1, torch::kDouble) * 8 / heads;
    expect_near(bias.flatten(), product / share);
  }
}

}  // namespace
}  // namespace ablate::models
