#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "models/ops/attention.h"
#include "models/ops/elementwise.h"
#include "models/ops/expert_feed_forward.h"
#include "models/ops/positions.h"
#include "tests/device/fake_cuda/counts.h"

namespace ablate::models::ops {
namespace {

/// The output of four experts, and the gradients of all that it is computed from.
std::vector<torch::Tensor> results_of(bool gated, torch::TensorOptions type) {
  torch::manual_seed(3);
  std::vector<torch::Tensor> leaves;
  const auto drawn = [&](torch::IntArrayRef sizes, bool wide = false) {
    leaves.push_back(
        torch::randn(sizes).to(wide ? type.dtype(torch::kFloat) : type).requires_grad_());
    return leaves.back();
  };
  const Experts experts{.up = drawn({4, gated ? 16 : 8, 16}),
                        .up_bias = drawn({4, gated ? 16 : 8}),
                        .down = drawn({4, 8, 16}),
                        .down_bias = drawn({4, 16}),
                        .activation = Activation::silu,
                        .gated = gated};
  const auto x = drawn({5, 16}), weight = drawn({5, 2}, /*wide=*/true);
  // Nobody chooses expert 1; 4: an empty slot.
  const auto expert = torch::tensor({{2, 0}, {0, 4}, {3, 2}, {4, 4}, {2, 3}}).to(type.device());
  const auto y = expert_feed_forward(x, experts, {.expert = expert, .weight = weight});
  y.square().sum().backward();
  std::vector<torch::Tensor> results{y.detach()};
  for (const auto& leaf : leaves) results.push_back(leaf.grad());
  for (auto& result : results) result = result.cpu().to(torch::kFloat);
  return results;
}

TEST(DeviceExperts, OfBfloat16AreMultipliedTogether) {
  for (const bool gated : {false, true}) {
    const auto expected = results_of(gated, torch::kFloat);
    const auto products = [] { return fake_cuda::counts().calls["aten::_grouped_mm"]; };
    const auto before = products();
    const auto found =
        results_of(gated, torch::TensorOptions(torch::kBFloat16).device(torch::kCUDA));
    if (fake_cuda::is_present()) {
      EXPECT_EQ(products() - before, 6) << "two, and two gradients of each";
    }
    for (size_t i = 0; i < expected.size(); ++i) {
      const auto scale = expected[i].abs().max().item<double>();
      EXPECT_LT((expected[i] - found[i]).abs().max().item<double>(), 0.03 * scale) << i;
    }
    for (const size_t i : {1, 2, 3, 4})
      EXPECT_EQ(found[i][1].abs().max().item<double>(), 0) << "of an expert without rows";
    for (const size_t i : {0, 5, 6})
      EXPECT_EQ(found[i][3].abs().max().item<double>(), 0) << "of a position without experts";
  }
}

TEST(DeviceRotation, TurnsAndItsGradientTurnsBackByFourLaunchesEach) {
  torch::manual_seed(3);
  const auto angle = torch::rand({5, 3});
  for (const bool interleaved : {false, true})
    for (const int64_t width : {6, 8}) {
      const auto x = torch::randn({2, 3, 5, width}), outer = torch::randn({2, 3, 5, width});
      const auto results = [&](torch::Device device) {
        const Rotation rotation{angle.cos().to(device), angle.sin().to(device), interleaved};
        const auto own = x.clone().to(device).requires_grad_(), factor = outer.to(device);
        const auto before = fake_cuda::counts().launches;
        const auto y = rotate(own, rotation);
        y.backward(factor);
        const auto launches = fake_cuda::counts().launches - before;
        if (fake_cuda::is_present()) {
          EXPECT_EQ(launches, device.is_cpu() ? 0 : width == 6 ? 8 : 10);
        }
        return std::array{y.detach().cpu(), own.grad().cpu()};
      };
      const auto here = results(torch::kCPU), there = results(torch::kCUDA);
      for (size_t i = 0; i < here.size(); ++i)
        EXPECT_LT((here[i] - there[i]).abs().max().item<double>(), 1e-6) << i;
    }
}

/// A source of nothing but padding, where kernels may divide 0 by 0.
TEST(DeviceAttention, AQueryThatSeesNoKeyReadsZerosAndPassesNoGradient) {
  for (const auto type : {torch::kFloat, torch::kBFloat16}) {
    const auto options = torch::TensorOptions(type).device(torch::kCUDA);
    const auto query = torch::rand({2, 3, 32}, options).requires_grad_();
    const auto key_value = torch::rand({2, 5, 64}, options).requires_grad_();
    const auto mask = torch::tensor({{1, 1, 1, 0, 0}, {0, 0, 0, 0, 0}}).to(torch::kBool);
    const auto values = attention({.query = query,
                                   .key_value = key_value,
                                   .heads = {.count = 2, .key_values = 2, .d_k = 16, .d_v = 16},
                                   .padding_mask = mask.to(torch::kCUDA)})
                            .values;
    values.sum().backward();
    EXPECT_EQ(values[1].abs().sum().item<double>(), 0);
    EXPECT_GT(values[0].abs().sum().item<double>(), 0);
    for (const auto& gradient : {query.grad(), key_value.grad()}) {
      EXPECT_EQ(gradient[1].abs().sum().item<double>(), 0);
      EXPECT_TRUE(gradient.isfinite().all().item<bool>());
    }
  }
}

TEST(DeviceAttention, LayersShareTheCastOfATrainedBiasAndAddItsGradientsInFloat) {
  torch::manual_seed(3);
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  constexpr int kLayers = 4;
  const Heads heads{.count = 2, .key_values = 2, .d_k = 16, .d_v = 16};
  const auto visible = torch::tensor({{1, 1, 1, 0, 0}, {1, 1, 1, 1, 1}}).to(torch::kBool);
  const auto padding_mask = visible.to(torch::kCUDA);
  const auto type = torch::TensorOptions(torch::kBFloat16).device(torch::kCUDA);
  const auto bias = torch::randn({2, 5, 5}).to(torch::kCUDA).requires_grad_();
  std::vector<torch::Tensor> inputs;
  for (int i = 0; i < kLayers; ++i) inputs.push_back(torch::randn({2, 5, 96}).to(type));
  const auto gradient = [&](const auto& values_of) {
    bias.mutable_grad().reset();
    torch::Tensor sum = torch::zeros({}, type);
    for (const auto& input : inputs) sum = sum + values_of(input).square().sum();
    sum.backward();
    return bias.grad().cpu();
  };
  const auto expected = gradient([&](const torch::Tensor& input) {
    const auto part = [&](int64_t i) {
      return input.narrow(-1, 32 * i, 32).unflatten(-1, {2, 16}).transpose(1, 2);
    };
    const auto hidden = padding_mask.logical_not().unsqueeze(1).unsqueeze(1);
    const auto mask = bias.to(torch::kBFloat16).unsqueeze(0).masked_fill(hidden, kHidden);
    // CUDA's kernels demand that a gradient beside the mask's is wanted.
    const auto query = part(0).detach().requires_grad_();
    return at::scaled_dot_product_attention(query, part(1), part(2), mask);
  });
  const auto copies = [] { return fake_cuda::counts().calls["aten::copy_"]; };
  const auto before = copies();
  const auto kept = std::make_shared<torch::Tensor>();
  const auto found = gradient([&](const torch::Tensor& input) {
    return attention({.query = input,
                      .heads = heads,
                      .padding_mask = padding_mask,
                      .position = {.bias = bias, .kept_mask = kept}})
        .values;
  });
  EXPECT_LE((found - expected).abs().max().item<double>(), fake_cuda::is_present() ? 0 : 1e-2);
  if (fake_cuda::is_present()) {
    EXPECT_EQ(copies() - before, 1 + 2 * kLayers)
        << "of the bias, of each gradient, and of each query's";
  }
}

TEST(DeviceDropout, ItsGradientHasTheSameMask) {
  const DropoutStream stream{.rate = 0.5, .noise = {7}};
  const auto x = torch::rand({4, 16}).to(torch::kCUDA).requires_grad_();
  const auto branch = torch::rand({4, 16}).to(torch::kCUDA).requires_grad_();
  const auto dropped = dropout(branch, stream), sum = add_dropout(x, branch, stream);
  (dropped + sum).sum().backward();
  const auto kept = branch.grad() / 2;  // 0 or 1 / (1 - rate)
  const auto share = kept.ne(0).to(torch::kFloat).mean().item<double>();
  EXPECT_GT(share, 0.2);
  EXPECT_LT(share, 0.8);
  EXPECT_TRUE(torch::equal(kept.ne(0), kept.eq(2)));
  EXPECT_TRUE(torch::allclose(dropped, branch * kept));
  EXPECT_TRUE(torch::allclose(sum, x + branch * kept));
  EXPECT_TRUE(torch::equal(x.grad(), torch::ones_like(x)));
}

}  // namespace
}  // namespace ablate::models::ops
