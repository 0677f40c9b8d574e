#include "models/kernel/int8_product.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace ablate::models::kernel {
namespace {

TEST(Int8Product, NumbersThatAreNotFiniteGiveNaNAndNoOthersDo) {
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

}  // namespace
}  // namespace ablate::models::kernel
