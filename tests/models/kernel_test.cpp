#include <gtest/gtest.h>

#include "models/dropout.h"
#include "models/kernel/vector_math.h"
#include "models/residual.h"

namespace ablate::models {
namespace {

/// Gradients of `output` weighted by fixed numbers, so that no symmetry hides an error.
std::vector<torch::Tensor> gradients(const torch::Tensor& output,
                                     std::vector<torch::Tensor> inputs) {
  torch::manual_seed(7);
  return torch::autograd::grad({(output * torch::randn_like(output)).sum()}, inputs);
}

void expect_close(const torch::Tensor& a, const torch::Tensor& b, double tolerance = 2e-5) {
  ASSERT_EQ(a.sizes(), b.sizes());
  EXPECT_LT((a - b).abs().max().item<double>(), tolerance);
}

TEST(SumNormKernel, EqualsLayerNormOfTheSumWithItsGradients) {
  torch::manual_seed(1);
  for (const int64_t width : {1, 7, 16, 130}) {
    Norm norm(width);
    torch::NoGradGuard no_grad;
    norm->weight.normal_();
    norm->bias.normal_();
    torch::AutoGradMode grad(true);
    const auto x = torch::randn({5, 9, width}).requires_grad_();
    const auto branch = torch::randn({5, 9, width}).requires_grad_();
    Dropout none;
    const auto fused = norm->after_sum(x, branch, Pass{none, {}});
    const auto plain = torch::layer_norm(x + branch, {width}, norm->weight, norm->bias, 1e-5);
    expect_close(fused, plain);
    const std::vector<torch::Tensor> inputs{x, branch, norm->weight, norm->bias};
    const auto ours = gradients(fused, inputs), theirs = gradients(plain, inputs);
    for (size_t i = 0; i < inputs.size(); ++i) expect_close(ours[i], theirs[i], 2e-4);
  }
}

TEST(SumNormKernel, DropsTheBranchAlone) {
  const int64_t width = 64;
  Norm norm(width);
  const auto x = torch::randn({50, width}).requires_grad_();
  const auto branch = torch::randn({50, width}).requires_grad_();
  Dropout dropout(0.4, 9), same(0.4, 9);
  const auto fused = norm->after_sum(x, branch, Pass{dropout, {}});
  const auto plain = norm->forward(x + drop(branch, same), Pass{same, {}});
  expect_close(fused, plain);
  const auto ours = gradients(fused, {x, branch}), theirs = gradients(plain, {x, branch});
  for (size_t i = 0; i < 2; ++i) expect_close(ours[i], theirs[i], 1e-4);
}

TEST(VectorMath, ExponentialIsAccurate) {
  for (float x = -86.5F; x < 5.0F; x += 0.01F)
    EXPECT_NEAR(kernel::exponential(x) / std::exp(x), 1.0F, 3e-7F) << x;
  EXPECT_EQ(kernel::exponential(-1000.0F), 0.0F);
  EXPECT_TRUE(std::isnan(kernel::exponential(std::nanf(""))));
}

TEST(VectorMath, Bfloat16RoundsAsTorchDoes) {
  torch::manual_seed(4);
  const auto x =
      torch::cat({torch::randn({1000}) * 100, torch::tensor({0.0F, -0.0F, INFINITY, NAN})});
  const auto expected = x.to(torch::kBFloat16);
  for (int64_t i = 0; i < x.size(0); ++i) {
    kernel::Bfloat16 rounded{};
    kernel::store(rounded, x[i].item<float>());
    const float back = kernel::load(rounded), wanted = expected[i].item<float>();
    EXPECT_TRUE(back == wanted || (std::isnan(back) && std::isnan(wanted))) << x[i].item<float>();
  }
}

}  // namespace
}  // namespace ablate::models
