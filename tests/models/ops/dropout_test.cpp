#include <gtest/gtest.h>

#include "models/ops/elementwise.h"

namespace ablate::models::ops {
namespace {

torch::Tensor mask_of(const DropoutStream& stream, torch::IntArrayRef sizes,
                      torch::ScalarType type = torch::kFloat) {
  return dropout(torch::ones(sizes, type), stream).ne(0);
}

TEST(Dropout, DropsTheShareItSaysAndScalesTheRest) {
  for (const auto type : {torch::kFloat, torch::kDouble}) {
    const auto x = torch::ones({1000, 100}, type).requires_grad_();
    const auto y = dropout(x, {.rate = 0.3, .noise = {42}});
    EXPECT_NEAR(y.ne(0).to(torch::kDouble).mean().item<double>(), 0.7, 0.005);
    EXPECT_NEAR(y.max().item<double>(), 1 / 0.7, 1e-6);
    const auto gradient = torch::autograd::grad({y.sum()}, {x})[0];
    EXPECT_TRUE(torch::equal(gradient, y.detach())) << "the gradient takes the same mask";
  }
}

TEST(Dropout, NeighboursAndOtherSeedsAreUncorrelated) {
  const auto signs = [](uint64_t seed) {
    return 2 * mask_of({.rate = 0.5, .noise = {seed}}, {400, 400}).to(torch::kDouble) - 1;
  };
  const auto correlation = [](const torch::Tensor& a, const torch::Tensor& b) {
    return (a * b).mean().item<double>();
  };
  const auto y = signs(3);
  EXPECT_NEAR(correlation(y.slice(0, 1), y.slice(0, 0, 399)), 0, 0.01);
  EXPECT_NEAR(correlation(y.slice(1, 1), y.slice(1, 0, 399)), 0, 0.01);
  EXPECT_NEAR(correlation(y, signs(4)), 0, 0.01);
}

TEST(Dropout, IsAFunctionOfItsSeedWithOrWithoutGradients) {
  const DropoutStream stream{.rate = 0.2, .noise = {5}};
  const auto x = torch::randn({30, 30}).requires_grad_();
  const auto y = dropout(x, stream);
  EXPECT_FALSE(torch::equal(y, dropout(x, {.rate = 0.2, .noise = {6}})));
  torch::NoGradGuard no_grad;
  EXPECT_TRUE(torch::equal(y, dropout(x, stream)));
  EXPECT_TRUE(torch::equal(mask_of(stream, {30, 30}), mask_of(stream, {30, 30}, torch::kBFloat16)));
}

TEST(Dropout, LeavesTheAmbientGeneratorAlone) {
  torch::manual_seed(1);
  const auto expected = torch::rand({4});
  for (const auto type : {torch::kFloat, torch::kBFloat16, torch::kDouble}) {
    torch::manual_seed(1);
    mask_of({.rate = 0.5, .noise = {9}}, {64, 64}, type);
    EXPECT_TRUE(torch::equal(torch::rand({4}), expected)) << type;
  }
}

TEST(Dropout, ARateOfZeroGivesTheInputItself) {
  const auto x = torch::randn({3, 4});
  EXPECT_TRUE(dropout(x, {}).is_same(x));
}

}  // namespace
}  // namespace ablate::models::ops
