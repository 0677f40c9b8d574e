#include <gtest/gtest.h>

#include "models/ops/positions.h"

namespace ablate::models::ops {
namespace {

/// Position 0 is not turned, position 1 by a quarter in the first pair and a half in the second.
Rotation quarter_and_half(bool interleaved) {
  return {.cosine = torch::tensor({{1.0F, 1.0F}, {0.0F, -1.0F}}),
          .sine = torch::tensor({{0.0F, 0.0F}, {1.0F, 0.0F}}),
          .interleaved = interleaved};
}

torch::Tensor two_positions() {  // [1, 1, 2, 5]
  return torch::tensor({1.0F, 2.0F, 3.0F, 4.0F, 5.0F}).expand({1, 1, 2, 5});
}

torch::Tensor rotated(const torch::Tensor& x, bool interleaved) {  // [2, 5]
  return rotate(x, quarter_and_half(interleaved))[0][0].to(torch::kFloat);
}

TEST(Rotation, TurnsNeighboursOrHalvesAndLeavesTheOtherDimensions) {
  EXPECT_TRUE(torch::equal(
      rotated(two_positions(), true),
      torch::tensor({{1.0F, 2.0F, 3.0F, 4.0F, 5.0F}, {-2.0F, 1.0F, -3.0F, -4.0F, 5.0F}})));
  EXPECT_TRUE(torch::equal(
      rotated(two_positions(), false),
      torch::tensor({{1.0F, 2.0F, 3.0F, 4.0F, 5.0F}, {-3.0F, -2.0F, 1.0F, -4.0F, 5.0F}})));
}

TEST(Rotation, KeepsTheElementType) {
  for (const auto type : {torch::kBFloat16, torch::kDouble}) {
    const auto x = two_positions().to(type);
    EXPECT_EQ(rotate(x, quarter_and_half(true)).scalar_type(), type);
    EXPECT_TRUE(torch::equal(rotated(x, true), rotated(two_positions(), true)));
  }
}

TEST(Rotation, WithoutAnglesIsTheInputItself) {
  const auto x = two_positions();
  EXPECT_TRUE(rotate(x, {}).is_same(x));
}

}  // namespace
}  // namespace ablate::models::ops
