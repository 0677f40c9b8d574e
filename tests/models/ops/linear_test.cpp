#include "models/ops/linear.h"

#include <gtest/gtest.h>

#include "tests/models/models.h"

namespace ablate::models {
namespace {

ops::LinearWeight packed(const torch::Tensor& weight, WeightDtype dtype) {
  return ops::LinearWeight{.dense = weight}.prepacked(dtype);
}

TEST(Linear, MultipliesWithAPackedMatrixAsWithTheMatrix) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  for (const int64_t outputs : {1, 31, 32, 70})
    for (const int64_t width : {1, 16, 37})
      for (const int64_t rows : {1, 3, 4, 12, 29}) {
        const auto x = torch::randn({rows, width}), weight = torch::randn({outputs, width});
        for (const auto& bias : {torch::randn({outputs}), torch::Tensor()}) {
          const auto expected = torch::linear(x, weight, bias);
          const auto error = [&](WeightDtype type) {
            return largest_difference(ops::linear(x, packed(weight, type), bias), expected);
          };
          EXPECT_LT(error(WeightDtype::fp32), 1e-5) << outputs << " " << width << " " << rows;
          // Both factors of every term are rounded to 8 bits.
          EXPECT_LT(error(WeightDtype::bf16),
                    0.01 * torch::linear(x.abs(), weight.abs()).max().item<double>());
          // Each term is off by half a step of either factor at most.
          const auto step = [](const torch::Tensor& of) {
            return std::get<0>(of.abs().max(1, true)) / 254;  // [*, 1]
          };
          const auto bound =
              step(x) * weight.abs().sum(1) + (x.abs() + step(x)).sum(1, true) * step(weight).t();
          const auto rounded = ops::linear(x, packed(weight, WeightDtype::int8), bias);
          EXPECT_TRUE(((rounded - expected).abs() <= bound + 1e-4).all().item<bool>());
        }
      }
}

/// Whole numbers up to 127 have no rounding to lose.
TEST(Linear, IsExactInEightBitsWhereEveryNumberFitsThem) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(3);
  auto x = torch::randint(-127, 128, {17, 50}).to(torch::kFloat);
  auto weight = torch::randint(-127, 128, {40, 50}).to(torch::kFloat);
  x.select(1, 0).fill_(127);
  weight.select(1, 0).fill_(-127);
  const auto y = ops::linear(x, packed(weight, WeightDtype::int8), {});
  EXPECT_LT(largest_difference(y, torch::linear(x, weight)), 0.1);  // of up to 800,000
}

TEST(Linear, KeepsTheShapeOfItsInputWithAPackedMatrix) {
  torch::NoGradGuard no_grad;
  const auto x = torch::randn({2, 3, 5}), weight = torch::randn({7, 5});
  const auto y = ops::linear(x, packed(weight, WeightDtype::fp32), {});
  EXPECT_EQ(y.sizes(), (std::vector<int64_t>{2, 3, 7}));
  EXPECT_LT(largest_difference(y, torch::linear(x, weight)), 1e-5);
}

TEST(Linear, RecordsGradientsOfTheWeightAlthoughItIsPacked) {
  const auto x = torch::randn({2, 5}), dense = torch::randn({7, 5}).requires_grad_();
  const auto y = ops::linear(x, packed(dense, WeightDtype::int8));
  EXPECT_LT(largest_difference(y, torch::linear(x, dense)), 1e-6);
  EXPECT_TRUE(y.requires_grad());
}

}  // namespace
}  // namespace ablate::models
