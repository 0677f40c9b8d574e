#include "models/kernel/int8_product.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "models/kernel/isa.h"

namespace ablate::models::kernel {
namespace {

/// The products of processors without AVX2 are LibTorch's.
class Int8Product : public testing::Test {
 protected:
  void SetUp() override {
    if (isa() == Isa::any) GTEST_SKIP() << "AVX2 is missing or not allowed";
  }
};

TEST_F(Int8Product, NumbersThatAreNotFiniteGiveNaNAndNoOthersDo) {
  for (const float odd : {std::nanf(""), INFINITY, -INFINITY}) {
    const std::array<float, 4> weight{1, 2, 3, odd};  // [2, 2]
    std::vector<int8_t> packed(static_cast<size_t>(int8_bytes(2, 2)));
    pack(weight.data(), 2, 2, packed.data());
    const std::array<float, 4> x{1, 1, 1, odd};  // [2, 2]
    std::array<float, 4> output{};
    multiply({.bias = nullptr, .output = output.data(), .rows = 2, .width = 2, .outputs = 2},
             int8_rows(x.data(), 2, 2), packed.data(), 0, 1);
    EXPECT_NEAR(output[0], 3, 0.05);
    for (const size_t i : {1U, 2U, 3U}) EXPECT_TRUE(std::isnan(output[i])) << i;
  }
}

/// The largest of a row becomes 127, so here nothing is scaled; halves of weights are rounded away
/// from zero, those of inputs to the even neighbour.
TEST_F(Int8Product, IsTheProductOfTheRoundedNumbers) {
  const std::array<float, 6> weight{127, 2.5F, -2.5F, 0, 127, 3.5F};  // [2, 3]
  std::vector<int8_t> packed(static_cast<size_t>(int8_bytes(2, 3)));
  pack(weight.data(), 2, 3, packed.data());
  const std::array<float, 3> x{127, 2.5F, 10};  // [1, 3]
  const std::array<float, 2> bias{0.5F, -1};
  std::array<float, 2> output{};
  multiply({.bias = bias.data(), .output = output.data(), .rows = 1, .width = 3, .outputs = 2},
           int8_rows(x.data(), 1, 3), packed.data(), 0, 1);
  EXPECT_EQ(output[0], 127 * 127 + 2 * 3 - 10 * 3 + 0.5F);
  EXPECT_EQ(output[1], 2 * 127 + 10 * 4 - 1);
}

}  // namespace
}  // namespace ablate::models::kernel
