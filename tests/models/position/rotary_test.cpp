#include "models/position/rotary.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/models/position/contexts.h"

namespace ablate::models {
namespace {

ops::Rotation rotation(const Rotary& options, const std::vector<int64_t>& positions, int64_t d_k) {
  return make_position(
             options, {.d_model = 8, .heads = 1, .d_k = d_k, .d_v = 8, .layers = 2, .causal = true})
      ->rotation(torch::tensor(positions), 1 + std::ranges::max(positions));
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
  // Pair 0.25 turns 9 times within 100 positions, and pair 1.2 once: the ramp leads from 0 to 2.
  const YarnScaling yarn{.factor = 4, .trained_length = 100, .fast = 9, .slow = 1};
  expect_near(angles(yarn), numbers({1, .1 * (.5 + .5 / 4), .0025, .00025}), 1e-12);
  const auto scaled = rotation({.scaling = yarn}, {1}, 8);
  expect_near((scaled.sine.square() + scaled.cosine.square()).sqrt().flatten(),
              torch::full({4}, 0.1 * std::log(4.0) + 1, torch::kDouble), 1e-12);
}

}  // namespace
}  // namespace ablate::models
