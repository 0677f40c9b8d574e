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
        }
      }
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
  const auto y = ops::linear(x, packed(dense, WeightDtype::bf16));
  EXPECT_LT(largest_difference(y, torch::linear(x, dense)), 1e-6);
  EXPECT_TRUE(y.requires_grad());
}

}  // namespace
}  // namespace ablate::models
