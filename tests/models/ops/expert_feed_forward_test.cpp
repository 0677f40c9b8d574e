#include "models/ops/expert_feed_forward.h"

#include <gtest/gtest.h>

#include "tests/models/models.h"

namespace ablate::models::ops {
namespace {

Experts experts_of(bool gated) {
  torch::manual_seed(3);
  return {.up = torch::randn({3, gated ? 64 : 32, 16}),
          .up_bias = torch::randn({3, gated ? 64 : 32}),
          .down = torch::randn({3, 32, 16}),
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

TEST(ExpertFeedForward, SumsTheWeightedOutputsOfThePositionsExperts) {
  const auto x = torch::randn({4, 16});
  const auto expert = torch::tensor({2, 0, 1, 2, 3, 1, 3, 3}).view({4, 2});  // 3: an empty slot
  const auto weight = torch::rand({4, 2});
  for (const bool gated : {false, true}) {
    const auto experts = experts_of(gated);
    auto expected = torch::zeros({4, 16});
    for (int64_t n = 0; n < 4; ++n)
      for (int64_t k = 0; k < 2; ++k)
        if (const auto e = expert[n][k].item<int64_t>(); e < 3)
          expected[n] += weight[n][k] * through(x[n], experts, e);
    for (const bool gradients : {false, true}) {  // for which another back end serves
      const torch::AutoGradMode mode(gradients);
      const ExpertChoice choice{.expert = expert, .weight = weight};
      for (const auto& same : {experts, experts.prepacked()})
        EXPECT_LT(largest_difference(expert_feed_forward(x, same, choice), expected), 2e-4);
    }
  }
}

TEST(ExpertFeedForward, HiddenLayersAreThoseOfAllChoicesExpertByExpert) {
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
    EXPECT_LT(largest_difference(hidden, torch::cat(expected)), 1e-5);
  }
}

}  // namespace
}  // namespace ablate::models::ops
