#include "models/kernel/simd.h"

#include <gtest/gtest.h>

#include <cmath>

#include "models/libtorch.h"

namespace ablate::models::kernel {
namespace {

TEST(Simd, ExponentialIsAccurate) {
  for (float x = -86.5F; x < 5.0F; x += 0.01F)
    EXPECT_NEAR(exponential(x) / std::exp(x), 1.0F, 3e-7F) << x;
  EXPECT_EQ(exponential(-1000.0F), 0.0F);
  EXPECT_TRUE(std::isnan(exponential(std::nanf(""))));
}

TEST(Simd, RoundsToTheNearestEvenWholeNumber) {
  for (const float x : {0.0F, 0.5F, 1.5F, -0.5F, -1.5F, 2.4F, -127.0F, 126.6F})
    EXPECT_EQ(static_cast<int32_t>(whole_of(x + kRounder)), std::lrint(x)) << x;
}

TEST(Simd, Bfloat16RoundsAsTorchDoes) {
  torch::manual_seed(4);
  const auto x =
      torch::cat({torch::randn({1000}) * 100, torch::tensor({0.0F, -0.0F, INFINITY, NAN})});
  const auto expected = x.to(torch::kBFloat16);
  for (int64_t i = 0; i < x.size(0); ++i) {
    Bfloat16 rounded{};
    store(rounded, x[i].item<float>());
    const float back = load(rounded), wanted = expected[i].item<float>();
    EXPECT_TRUE(back == wanted || (std::isnan(back) && std::isnan(wanted))) << x[i].item<float>();
  }
}

/// Element (i, k) of an L x L matrix is L i + k.
template <int L>
void fill(Register<L> (&rows)[L]) {
  for (int i = 0; i < L; ++i)
    for (int k = 0; k < L; ++k) rows[i][k] = static_cast<float>(L * i + k);
}

template <int L>
void expect_transposed() {
  Register<L> rows[L];
  fill<L>(rows);
  transpose<L>(rows);
  for (int i = 0; i < L; ++i)
    for (int k = 0; k < L; ++k) EXPECT_EQ(rows[i][k], static_cast<float>(L * k + i)) << L;
}

TEST(Simd, TransposesSquaresOfEveryRegister) {
  expect_transposed<4>();
  expect_transposed<8>();
  expect_transposed<16>();
}

TEST(Simd, AddsAcrossLanes) {
  f32x16 sums[kLanes];
  fill<kLanes>(sums);
  horizontal_add(sums);
  for (int64_t i = 0; i < kLanes; ++i)
    EXPECT_EQ(sums[0][i], static_cast<float>(kLanes * kLanes * i + 120));
}

}  // namespace
}  // namespace ablate::models::kernel
