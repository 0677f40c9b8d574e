#include "models/ops/expert_feed_forward.h"

#include <gtest/gtest.h>

#include "tests/models/models.h"

namespace ablate::models::ops {
namespace {

constexpr int64_t kFew = 4;  // neurons an expert, so that all experts work for every position

Experts experts_of(bool gated, int64_t d_hidden = 32) {
  torch::manual_seed(3);
  const int64_t up = gated ? 2 * d_hidden : d_hidden;
  return {.up = torch::randn({3, up, 16}),
          .up_bias = torch::randn({3, up}),
          .down = torch::randn({3, d_hidden, 16}),
          .down_bias = torch::randn({3, 16}),
          .activation = Activation::silu,
          .gated = gated};
}

/// One position through one expert.
torch::Tensor through(const torch::Tensor& x, const Experts& experts, int64_t e) {
  const auto hidden = hidden_layer(torch::linear(x, experts.up[e], experts.up_bias[e]),
                                   experts.activation, experts.gated);
  return torch::linear(hidden, experts.down[e].t(), experts.down_bias[e]);
}

/// The definition: choice by choice.
torch::Tensor sum_of_choices(const torch::Tensor& x, const Experts& experts,
                             const ExpertChoice& choice) {
  std::vector<torch::Tensor> sums;
  for (int64_t n = 0; n < x.size(0); ++n) {
    auto sum = torch::zeros_like(x[n]);
    for (int64_t k = 0; k < choice.expert.size(1); ++k)
      if (const auto e = choice.expert[n][k].item<int64_t>(); e < experts.up.size(0))
        sum = sum + choice.weight[n][k] * through(x[n], experts, e);
    sums.push_back(sum);
  }
  return torch::stack(sums);
}

/// Two choices of four positions among three experts; 3: an empty slot.
torch::Tensor chosen_experts() { return torch::tensor({2, 0, 1, 2, 3, 1, 3, 3}).view({4, 2}); }

TEST(ExpertFeedForward, SumsTheWeightedOutputsOfThePositionsExperts) {
  const auto x = torch::randn({4, 16});
  const ExpertChoice choice{.expert = chosen_experts(), .weight = torch::rand({4, 2})};
  for (const bool gated : {false, true})
    for (const int64_t d_hidden : {int64_t{32}, int64_t{16}, kFew}) {
      const auto experts = experts_of(gated, d_hidden);
      const auto expected = sum_of_choices(x, experts, choice);
      for (const bool gradients : {false, true}) {  // for which another back end serves
        const torch::AutoGradMode mode(gradients);
        for (const auto& same : {experts, experts.prepacked()})
          EXPECT_LT(largest_difference(expert_feed_forward(x, same, choice), expected), 2e-4);
      }
    }
}

/// Experts that return the hidden layer of an input of ones, which is 2 everywhere.
TEST(ExpertFeedForward, DropsElementsOfHiddenLayersAndScalesTheOthers) {
  for (const int64_t d_hidden : {int64_t{16}, kFew}) {
    const Experts experts{.up = torch::full({3, d_hidden, 16}, 2.0 / 16),
                          .down = torch::eye(d_hidden, 16).repeat({3, 1, 1}),
                          .activation = Activation::relu,
                          .gated = false};
    const auto expert = torch::arange(600).remainder(4).view({600, 1});  // 3: an empty slot
    const ExpertChoice choice{.expert = torch::cat({expert, torch::full_like(expert, 3)}, 1),
                              .weight = torch::ones({600, 2})};
    const auto through = [&](uint64_t seed) {
      return expert_feed_forward(torch::ones({600, 16}), experts, choice,
                                 {.rate = 0.25, .noise = {seed}})
          .narrow(1, 0, d_hidden);
    };
    const auto y = through(5);
    const auto used = expert.lt(3).expand_as(y);
    EXPECT_TRUE((y.eq(0) | (y - 2 / 0.75).abs().lt(1e-5)).all().item<bool>());
    EXPECT_NEAR(y.masked_select(used).ne(0).to(torch::kDouble).mean().item<double>(), 0.75, 0.05);
    EXPECT_TRUE(torch::equal(y, through(5)));
    EXPECT_FALSE(torch::equal(y, through(6)));
    for (const int64_t e : {1, 2})
      EXPECT_FALSE(torch::equal(y.slice(0, e, 600, 4), y.slice(0, 0, 600, 4))) << e;
    const torch::NoGradGuard no_grad;  // for which another back end serves
    EXPECT_TRUE(torch::equal(y, through(5)));
  }
}

TEST(ExpertFeedForward, ItsGradientsAreThoseOfTheDefinition) {
  for (const bool gated : {false, true})
    for (const int64_t d_hidden : {int64_t{32}, kFew}) {
      const auto experts = experts_of(gated, d_hidden);
      const ExpertChoice choice{.expert = chosen_experts(), .weight = torch::rand({4, 2})};
      const std::vector<torch::Tensor> leaves{torch::randn({4, 16}), experts.up,
                                              experts.up_bias,       experts.down,
                                              experts.down_bias,     choice.weight};
      for (const auto& leaf : leaves) leaf.requires_grad_();
      const auto gradients_of = [&](const torch::Tensor& y) {
        return torch::autograd::grad({y.square().sum()}, leaves);
      };
      const auto expected = gradients_of(sum_of_choices(leaves[0], experts, choice));
      const auto found = gradients_of(expert_feed_forward(leaves[0], experts, choice));
      for (size_t i = 0; i < leaves.size(); ++i)
        EXPECT_LT(largest_difference(found[i], expected[i]),
                  1e-5 * expected[i].abs().max().item<double>())
            << i;
    }
}

TEST(ExpertFeedForward, HiddenLayersAreThoseOfAllChoicesExpertByExpert) {
  torch::manual_seed(3);
  const auto x = torch::randn({4, 16});
  const auto expert = torch::tensor({2, 0, 3, 2, 3, 2, 3, 3}).view({4, 2});  // none chooses 1
  for (const bool gated : {false, true}) {
    const auto experts = experts_of(gated);
    std::vector<torch::Tensor> expected;
    for (const auto& [e, n] : {std::pair{0, 0}, {2, 0}, {2, 1}, {2, 2}})
      expected.push_back(
          hidden_layer(torch::linear(x[n].unsqueeze(0), experts.up[e], experts.up_bias[e]),
                       experts.activation, experts.gated));
    const auto hidden =
        expert_hidden_layers(x, experts, {.expert = expert, .weight = torch::rand({4, 2})});
    EXPECT_LT(largest_difference(hidden, torch::cat(expected)),
              1e-6 * hidden.abs().max().item<double>());
  }
}

}  // namespace
}  // namespace ablate::models::ops
