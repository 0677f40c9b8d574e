#include <gtest/gtest.h>

#include "models/position/position.h"
#include "tests/models/position/contexts.h"

namespace ablate::models {
namespace {

TEST(Sinusoidal, HasThePapersValues) {
  expect_near(embedding(Sinusoidal{}, 1, 8),
              numbers({.841471, .540302, .099833, .995004, .010000, .999950, .001000, 1.0}));
  expect_near(embedding(Sinusoidal{}, 7, 8),
              numbers({.656987, .753902, .644218, .764842, .069943, .997551, .007000, .999976}));
}

TEST(Sinusoidal, HalvesHaveTensor2TensorsValues) {
  expect_near(embedding(Sinusoidal{.layout = SinusoidalLayout::halves,
                                   .frequencies = Frequencies::tensor2tensor},
                        1, 8),
              numbers({.841471, .046399, .002154, .000100, .540302, .998923, .999998, 1.0}));
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
    expect_near(position->embedding(torch::arange(3), 3).detach(), table);
    const auto five = position->embedding(torch::arange(5), 5).detach();
    if (beyond == Beyond::clamp) {
      expect_near(five.slice(0, 2), table[2].expand({3, 8}));
    } else {
      expect_near(five[1], (table[0] + table[1]) / 2);
      expect_near(five[4], table[2]);
    }
  }
}

TEST(Learned, StartsAtTheDeclaredSizeOrAtThatOfUnscaledEmbeddings) {
  const auto size_of = [](const Learned& options) {
    const auto position = initialized(make_position(options, kDecoder));
    return position->parameters()[0].detach().square().mean().sqrt().item<double>();
  };
  // Of 80,000 values the root mean square is within 1 % with four standard errors.
  EXPECT_NEAR(size_of({.max_length = 10'000}), 1 / std::sqrt(8.0), 0.01 / std::sqrt(8.0));
  EXPECT_NEAR(size_of({.max_length = 10'000, .deviation = 0.71}), 0.71, 0.0071);
}

TEST(Learned, OnlyRowsInUseGetAGradient) {
  const auto position = initialized(make_position(Learned{.max_length = 6}, kDecoder));
  position->embedding(torch::arange(4), 4).sum().backward();
  const auto gradient = position->parameters()[0].grad();
  EXPECT_EQ(gradient.slice(0, 4).abs().max().item<double>(), 0.0);
  EXPECT_GT(gradient.slice(0, 0, 4).abs().min().item<double>(), 0.0);
}

}  // namespace
}  // namespace ablate::models
