#include <gtest/gtest.h>

#include "models/dropout.h"
#include "models/packed_attention.h"
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

struct Sizes {
  int64_t batch, targets, sources;
};

torch::Tensor heads_of(const torch::Tensor& x, int64_t heads) {
  return x.unflatten(-1, {heads, -1}).transpose(1, 2);
}

/// A rotation at `length` positions, or none.
Rotation rotation_of(const std::optional<Rotary>& options, int64_t length, int64_t d_k) {
  if (!options || d_k < 2) return {};
  return make_position(
             *options,
             {.d_model = d_k, .heads = 1, .d_k = d_k, .d_v = 8, .layers = 2, .causal = false})
      ->rotation(torch::arange(length));
}

TEST(PackedAttention, SelfAttentionEqualsTheFormulaWithItsGradients) {
  torch::manual_seed(2);
  const std::vector<std::optional<Rotary>> rotations = {
      {}, Rotary{}, Rotary{.layout = RotaryLayout::interleaved, .fraction = 0.7}};
  for (const auto& [count, d_k, d_v] :
       std::vector<std::array<int64_t, 3>>{{1, 16, 16}, {3, 5, 7}, {2, 33, 18}})
    for (const bool causal : {false, true})
      for (const int64_t length : {1, 3, 4, 16, 37, 38}) {
        const Heads heads({.heads = count, .d_k = d_k, .d_v = d_v}, 8);
        const auto qkv = torch::randn({4, length, count * (2 * d_k + d_v)}).requires_grad_();
        auto real = torch::ones({4, length}, torch::kBool);
        if (length > 1) real.index_put_({1, torch::indexing::Slice(length / 2 + 1)}, false);
        const auto& rotary = rotations[static_cast<size_t>(length % 3)];
        const auto bias = torch::randn({count, length, length}).requires_grad_();
        const AttentionPosition position{rotation_of(rotary, length, d_k),
                                         length % 2 == 1 ? bias : torch::Tensor()};
        const auto ours = packed_self_attention(qkv, {real, position, causal}, heads);
        const auto parts = qkv.split_with_sizes({count * d_k, count * d_k, count * d_v}, -1);
        const auto turned = [&](const torch::Tensor& x) {
          return rotate(heads_of(x, count), position.rotation);
        };
        auto scores = turned(parts[0]).matmul(turned(parts[1]).transpose(2, 3)) /
                          std::sqrt(static_cast<double>(d_k)) +
                      (position.bias.defined() ? bias : bias * 0);
        auto mask = real.unsqueeze(1).unsqueeze(1).expand_as(scores);
        if (causal) mask = mask.logical_and(torch::ones({length, length}, torch::kBool).tril());
        scores = scores.masked_fill(mask.logical_not(), -1e30);
        const auto theirs =
            scores.softmax(-1).matmul(heads_of(parts[2], count)).transpose(1, 2).flatten(2);
        expect_close(ours, theirs);
        if (!position.bias.defined()) {
          expect_close(gradients(ours, {qkv})[0], gradients(theirs, {qkv})[0], 1e-4);
          continue;
        }
        const auto a = gradients(ours, {qkv, bias}), b = gradients(theirs, {qkv, bias});
        expect_close(a[0], b[0], 1e-4);
        expect_close(a[1], b[1], 1e-4);
      }
}

TEST(PackedAttention, CrossAttentionEqualsTheFormulaWithItsGradients) {
  torch::manual_seed(3);
  const int64_t count = 2, d_k = 6, d_v = 10;
  const Heads heads({.heads = count, .d_k = d_k, .d_v = d_v}, 8);
  for (const auto& [targets, sources] :
       std::vector<std::array<int64_t, 2>>{{1, 1}, {5, 3}, {17, 40}}) {
    const auto query = torch::randn({3, targets, count * d_k}).requires_grad_();
    const auto key_value = torch::randn({3, sources, count * (d_k + d_v)}).requires_grad_();
    auto real = torch::ones({3, sources}, torch::kBool);
    if (sources > 1) real.index_put_({2, torch::indexing::Slice(1)}, false);
    const auto ours = packed_cross_attention(query, key_value, real, heads);
    const auto parts = key_value.split_with_sizes({count * d_k, count * d_v}, -1);
    auto scores = heads_of(query, count).matmul(heads_of(parts[0], count).transpose(2, 3)) /
                  std::sqrt(static_cast<double>(d_k));
    scores = scores.masked_fill(real.logical_not().unsqueeze(1).unsqueeze(1), -1e30);
    const auto theirs =
        scores.softmax(-1).matmul(heads_of(parts[1], count)).transpose(1, 2).flatten(2);
    expect_close(ours, theirs);
    const auto a = gradients(ours, {query, key_value}), b = gradients(theirs, {query, key_value});
    expect_close(a[0], b[0], 1e-4);
    expect_close(a[1], b[1], 1e-4);
  }
}

TEST(PackedAttention, AQueryWithoutAnyRealKeyGivesZeros) {
  const Heads heads({.heads = 1, .d_k = 4, .d_v = 4}, 4);
  const auto qkv = torch::randn({1, 3, 12}).requires_grad_();
  const auto output = packed_self_attention(
      qkv, {torch::zeros({1, 3}, torch::kBool), AttentionPosition{}, false}, heads);
  EXPECT_EQ(output.abs().max().item<double>(), 0.0);
  EXPECT_TRUE(gradients(output, {qkv})[0].isfinite().all().item<bool>());
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
