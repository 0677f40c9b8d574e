#include "models/kernel/single_attention.h"

#include <gtest/gtest.h>

#include <array>

namespace ablate::models::kernel {
namespace {

TEST(SingleAttention, WithoutAnyKeyGivesZeros) {
  const std::array<float, 4> query{1, 2, 3, 4};
  std::array<float, 4> output{5, 5, 5, 5};
  attend({.query = {query.data(), 4, 2, 2},
          .blocks = {},
          .rows = nullptr,
          .padding_mask = nullptr,
          .bias = nullptr,
          .output = output.data(),
          .heads = 2,
          .group = 1,
          .keys = 0,
          .d_k = 2,
          .d_v = 2},
         0, 2);
  for (const float x : output) EXPECT_EQ(x, 0.0F);
}

}  // namespace
}  // namespace ablate::models::kernel
