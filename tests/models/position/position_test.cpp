#include "models/position/position.h"

#include <gtest/gtest.h>

#include "tests/models/models.h"

namespace ablate::models {
namespace {

constexpr PositionContext kDecoder{
    .d_model = 8, .heads = 2, .d_k = 8, .d_v = 8, .layers = 2, .causal = true};
constexpr PositionContext kEncoder{
    .d_model = 8, .heads = 2, .d_k = 8, .d_v = 8, .layers = 2, .causal = false};

torch::Tensor numbers(const std::vector<double>& values) {
  return torch::tensor(values, torch::kDouble);
}

void expect_near(const torch::Tensor& a, const torch::Tensor& b, double tolerance = 1e-6) {
  ASSERT_EQ(a.sizes(), b.sizes());
  EXPECT_LT((a.to(torch::kDouble) - b.to(torch::kDouble)).abs().max().item<double>(), tolerance)
      << a << b;
}

torch::Tensor embedding(const PositionOptions& options, int64_t position, int64_t d_model) {
  return make_position(
             options,
             {.d_model = d_model, .heads = 2, .d_k = 8, .d_v = 8, .layers = 2, .causal = true})
      ->embedding(torch::tensor({position}))[0];
}

TEST(Sinusoidal, HasThePapersValues) {
  expect_near(embedding(Sinusoidal{}, 1, 8),
              numbers({.841471, .540302, .099833, .995004, .010000, .999950, .001000, 1.0}));
  expect_near(embedding(Sinusoidal{}, 7, 8),
              numbers({.656987, .753902, .644218, .764842, .069943, .997551, .007000, .999976}));
}

TEST(Sinusoidal, HalvesHaveTensor2TensorsValues) {
  expect_near(embedding(Sinusoidal{.layout = SinusoidalLayout::halves}, 1, 8),
              numbers({.841471, .046399, .002154, .000100, .540302, .998923, .999998, 1.0}));
}

TEST(Sinusoidal, ProductsDependOnTheDistanceAlone) {
  const auto dot = [](int64_t p, int64_t q) {
    return embedding(Sinusoidal{}, p, 512).dot(embedding(Sinusoidal{}, q, 512)).item<double>();
  };
  EXPECT_NEAR(dot(3, 3), 256.0, 1e-9);
  EXPECT_NEAR(dot(5, 9), 196.68823, 1e-5);
  EXPECT_NEAR(dot(100, 104), 196.68823, 1e-5);
}

TEST(Sinusoidal, AnOddWidthEndsWithASine) {
  expect_near(embedding(Sinusoidal{}, 2, 3).slice(0, 2),
              numbers({std::sin(2 * std::pow(1e4, -2.0 / 3))}));
}

TEST(Learned, ClampRepeatsTheLastVectorAndInterpolateSpreadsTheTable) {
  for (const auto beyond : {Beyond::clamp, Beyond::interpolate}) {
    const auto position =
        initialized(make_position(Learned{.max_length = 3, .beyond = beyond}, kEncoder));
    const auto table = position->parameters()[0].detach();
    position->check(1000);
    expect_near(position->embedding(torch::arange(3)).detach(), table);
    const auto five = position->embedding(torch::arange(5)).detach();
    if (beyond == Beyond::clamp) {
      expect_near(five.slice(0, 2), table[2].expand({3, 8}));
    } else {
      expect_near(five[1], (table[0] + table[1]) / 2);
      expect_near(five[4], table[2]);
    }
  }
}

TEST(Learned, OnlyRowsInUseGetAGradient) {
  const auto position = initialized(make_position(Learned{.max_length = 6}, kDecoder));
  position->embedding(torch::arange(4)).sum().backward();
  const auto gradient = position->parameters()[0].grad();
  EXPECT_EQ(gradient.slice(0, 4).abs().max().item<double>(), 0.0);
  EXPECT_GT(gradient.slice(0, 0, 4).abs().min().item<double>(), 0.0);
}

ops::Rotation rotation(const Rotary& options, const std::vector<int64_t>& positions, int64_t d_k) {
  return make_position(
             options, {.d_model = 8, .heads = 1, .d_k = d_k, .d_v = 8, .layers = 2, .causal = true})
      ->rotation(torch::tensor(positions));
}

torch::Tensor turned(const torch::Tensor& x, int64_t position, const Rotary& options = {}) {
  return rotate(x.reshape({1, 1, 1, -1}), rotation(options, {position}, x.numel())).flatten();
}

TEST(Rotary, HasTheGoldenValuesOfBothLayouts) {
  const auto x = numbers({1, 2, 3, 4});
  expect_near(turned(x, 3), numbers({-1.413353, 1.879118, -2.828857, 4.058191}));
  expect_near(turned(x, 3, {.layout = RotaryLayout::interleaved}),
              numbers({-1.272233, -1.838865, 2.878668, 4.088187}));
}

TEST(Rotary, HalfIsInterleavedAfterAPermutation) {
  const auto x = torch::randn({16}, torch::kDouble);
  const auto permuted = x.unflatten(0, {8, 2}).t().flatten();  // pairs (2i, 2i+1) to (i, i+8)
  const auto interleaved = turned(x, 11, {.layout = RotaryLayout::interleaved});
  expect_near(turned(permuted, 11), interleaved.unflatten(0, {8, 2}).t().flatten(), 1e-12);
}

TEST(Rotary, KeepsNormsAndTheFirstPositionAndProductsOfEqualDistance) {
  const auto q = torch::randn({64}), k = torch::randn({64});
  expect_near(turned(q, 0), q);
  EXPECT_NEAR(turned(q, 1234).norm().item<double>(), q.norm().item<double>(), 1e-4);
  const double near = turned(q, 5).dot(turned(k, 2)).item<double>();
  for (const int64_t shift : {1, 37, 1000})
    EXPECT_NEAR(turned(q, 5 + shift).dot(turned(k, 2 + shift)).item<double>(), near, 1e-4) << shift;
}

TEST(Rotary, AFractionLeavesTheOtherDimensionsAlone) {
  const auto x = torch::randn({8});
  const auto y = turned(x, 3, {.fraction = 0.5});
  expect_near(y.slice(0, 4), x.slice(0, 4));
  expect_near(y.slice(0, 0, 4), turned(x.slice(0, 0, 4), 3));
}

TEST(Rotary, ScalingsChangeTheAnglesAsDefined) {
  const auto angles = [](const RotaryScaling& scaling) {
    const auto r = rotation({.scaling = scaling}, {1}, 8);
    return torch::atan2(r.sine, r.cosine).flatten();
  };
  const auto plain = angles(NoScaling{});
  expect_near(plain, numbers({1, .1, .01, .001}), 1e-12);
  expect_near(angles(LinearScaling{.factor = 4}), plain / 4, 1e-12);
  const auto ntk = angles(NtkScaling{.factor = 4});
  EXPECT_NEAR(ntk[0].item<double>(), 1.0, 1e-12);
  EXPECT_NEAR(ntk[3].item<double>(), 0.001 / 4, 1e-12);
  // Turns within 100 positions: 15.9, 1.59, 0.159, 0.0159; the ramp leads from 1 to 9 turns.
  const YarnScaling yarn{.factor = 4, .trained_length = 100, .fast = 9, .slow = 1};
  const double turns = 100 * .1 / (2 * M_PI), kept = (turns - 1) / 8;
  expect_near(angles(yarn), numbers({1, .1 * (kept + (1 - kept) / 4), .0025, .00025}), 1e-12);
  const auto scaled = rotation({.scaling = yarn}, {1}, 8);
  expect_near((scaled.sine.square() + scaled.cosine.square()).sqrt().flatten(),
              torch::full({4}, 0.1 * std::log(4.0) + 1, torch::kDouble), 1e-12);
}

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

TEST(T5, BidirectionalBucketsAreT5s) {
  const std::vector<std::pair<int64_t, int64_t>> table = {
      {-128, 15}, {-64, 14}, {-16, 10}, {-8, 8},  {-1, 1},  {0, 0},
      {1, 17},    {7, 23},   {8, 24},   {16, 26}, {64, 30}, {128, 31}};
  for (const auto& [distance, bucket] : table)
    EXPECT_EQ(t5_buckets(torch::tensor({distance}), {}, false).item<int64_t>(), bucket) << distance;
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
    EXPECT_NEAR(bias.select(2, 0).abs().max().item<double>(), 0.0, 1e-2);
    EXPECT_LT(bias.diff(1, 2).max().item<double>(), 0.0);
  }
}

TEST(Sandwich, IsTheProductOfSinusoidalVectors) {
  const auto bias =
      make_position(Sandwich{.width = 16}, kEncoder)->bias(torch::tensor({9}), torch::tensor({4}));
  const auto product = embedding(Sinusoidal{}, 9, 16).dot(embedding(Sinusoidal{}, 4, 16)) - 8;
  expect_near(bias.flatten(), product * alibi_slopes(2).to(torch::kDouble));
}

TEST(Position, RelativeSchemesDependOnDistancesAlone) {
  const std::vector<PositionOptions> schemes = {Alibi{}, T5Bias{}, Kerple{}, Sandwich{}};
  for (const auto& scheme : schemes) {
    const auto position = initialized(make_position(scheme, kEncoder));
    const auto here = position->bias(torch::arange(5), torch::arange(7)).detach();
    expect_near(position->bias(torch::arange(5) + 100, torch::arange(7) + 100).detach(), here);
  }
}

}  // namespace
}  // namespace ablate::models
