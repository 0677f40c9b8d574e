#include <gtest/gtest.h>

#include "models/ops/linear.h"
#include "tests/models/models.h"

namespace ablate::models::ops {
namespace {

TEST(HiddenLayer, EveryActivationIsItsFormula) {
  const auto x = torch::tensor({-2.0F, 3.0F});
  const auto expect = [&](Activation activation, double at_minus_two, double at_three) {
    const auto y = hidden_layer(x, activation, false);
    EXPECT_NEAR(y[0].item<double>(), at_minus_two, 1e-6) << static_cast<int>(activation);
    EXPECT_NEAR(y[1].item<double>(), at_three, 1e-6) << static_cast<int>(activation);
  };
  const auto phi = [](double t) { return 0.5 * (1 + std::erf(t / std::sqrt(2.0))); };
  const auto sigma = [](double t) { return 1 / (1 + std::exp(-t)); };
  expect(Activation::relu, 0, 3);
  expect(Activation::gelu, -2 * phi(-2), 3 * phi(3));
  // Hendrycks & Gimpel 2016: x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.
  const auto by_tanh = [](double t) {
    return t * (1 + std::tanh(0.7978845608 * (t + 0.044715 * t * t * t))) / 2;
  };
  expect(Activation::gelu_tanh, by_tanh(-2), by_tanh(3));
  expect(Activation::silu, -2 * sigma(-2), 3 * sigma(3));
  expect(Activation::relu2, 0, 9);
  expect(Activation::sigmoid, sigma(-2), sigma(3));
  expect(Activation::identity, -2, 3);
}

TEST(HiddenLayer, AGateMultipliesTheSecondHalf) {
  const auto products = torch::tensor({{-2.0F, 3.0F, 5.0F, 7.0F}});
  EXPECT_TRUE(torch::equal(hidden_layer(products, Activation::relu2, true),
                           torch::tensor({{0.0F, 63.0F}})));
  EXPECT_TRUE(torch::equal(hidden_layer(products, Activation::identity, true),
                           torch::tensor({{-10.0F, 21.0F}})));
}

}  // namespace
}  // namespace ablate::models::ops
