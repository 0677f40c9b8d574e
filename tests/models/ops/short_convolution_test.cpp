#include "models/ops/short_convolution.h"

#include <gtest/gtest.h>

#include "tests/models/models.h"

namespace ablate::models {
namespace {

TEST(ShortConvolution, SumsTheLastInputsOfEveryChannelAndTheInputItself) {
  const auto x = torch::tensor({1.0F, 5.0F, 2.0F, 6.0F, 3.0F, 7.0F}).view({1, 3, 2});
  const auto weight = torch::tensor({10.0F, 0.0F, 100.0F, 1.0F}).view({2, 2});
  const auto expected = torch::tensor({120.0F, 5.0F, 230.0F, 6.0F}).view({1, 2, 2});
  EXPECT_TRUE(torch::equal(ops::short_convolution(x, weight, false), expected));
  EXPECT_TRUE(torch::equal(ops::short_convolution(x, weight, true), expected + x.slice(1, 1)));
}

/// The same by LibTorch's convolution, whose kernel runs forwards in time.
/// // [B, J - 1 + T, C], [J, C] -> [B, T, C]
torch::Tensor by_conv1d(const torch::Tensor& x, const torch::Tensor& weight) {
  const auto kernel = weight.flip(0).t().unsqueeze(1);  // [C, 1, J]
  const std::vector<int64_t> one{1}, none{0};
  return torch::conv1d(x.transpose(1, 2), kernel, {}, one, none, one, x.size(2)).transpose(1, 2);
}

/// Output, and gradients of x and weight.
template <class Function>
std::vector<torch::Tensor> values_of(Function&& f, const torch::Tensor& x, const torch::Tensor& w,
                                     const torch::Tensor& of_y) {
  const auto own = x.clone().requires_grad_(), weight = w.clone().requires_grad_();
  const auto y = f(own, weight);
  y.backward(of_y);
  return {y.detach(), own.grad(), weight.grad()};
}

TEST(ShortConvolution, AgreesWithLibTorchsConvolutionAndItsGradients) {
  torch::manual_seed(1);
  for (const int64_t length : {1, 2, 3, 9}) {
    const auto x = torch::randn({2, 3 + length, 3}, torch::kDouble);
    const auto of_y = torch::randn({2, length, 3}, torch::kDouble);
    const auto weight = torch::randn({4, 3}, torch::kDouble);
    for (const bool adds : {false, true}) {
      const auto expected = values_of(
          [&](const auto& a, const auto& w) {
            return adds ? a.slice(1, 3) + by_conv1d(a, w) : by_conv1d(a, w);
          },
          x, weight, of_y);
      const auto found = values_of(
          [&](const auto& a, const auto& w) { return ops::short_convolution(a, w, adds); }, x,
          weight, of_y);
      for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_LT(largest_difference(found[i], expected[i]), 1e-12) << length << " " << i;
    }
  }
}

}  // namespace
}  // namespace ablate::models
