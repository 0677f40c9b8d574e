#include <gtest/gtest.h>

#include "models/feed_forward/feed_forward.h"
#include "tests/models/models.h"

namespace ablate::models {
namespace {

constexpr int64_t kMixWidth = 48;

/// A mixture in float whose scores and biases are far from zero.
std::shared_ptr<Mixture> expert_mix(const MixtureOptions& options, bool bias = true) {
  torch::manual_seed(11);
  auto mixture = std::make_shared<Mixture>(
      options,
      StackOptions{.d_model = kMixWidth, .causal = false, .layers = {}, .depth = 1, .bias = bias});
  initialize(*mixture, 11);
  torch::NoGradGuard no_grad;
  for (auto& parameter : mixture->parameters()) parameter.add_(torch::randn_like(parameter) * 0.3);
  return mixture;
}

torch::Tensor run(Mixture& mixture, const torch::Tensor& x, bool gradient,
                  const torch::Tensor& real = {}) {
  const torch::AutoGradMode mode(gradient);
  return mixture.forward(x, {.padding_mask = real}).output.detach();
}

torch::Tensor mix_input(int64_t rows, int64_t length) {
  torch::manual_seed(7);
  return torch::randn({rows, length, kMixWidth});
}

/// The sorted path, which gradients take, is the oracle: mixture_test.cpp holds it to the
/// definition.
TEST(ExpertMix, EqualsTheSortedPath) {
  for (const auto& [activation, name] : names(Activation{}))
    for (const bool gated : {false, true})
      for (const int64_t hidden : {1, 6, 32, 64, 70})
        for (const bool bias : {false, true}) {
          const auto mixture = expert_mix({.experts = 5,
                                           .active = 2,
                                           .d_hidden = hidden,
                                           .activation = activation,
                                           .gated = gated},
                                          bias);
          for (const auto& x : {mix_input(1, 1), mix_input(3, 7), mix_input(9, 70)}) {
            const auto expected = run(*mixture, x, true);
            const double bound = 2e-6 * std::max(1.0, expected.abs().max().item<double>());
            EXPECT_LT(largest_difference(run(*mixture, x, false), expected), bound)
                << name << gated << hidden << bias << x.sizes();
          }
          mixture->prepack();
          const auto expected = run(*mixture, mix_input(3, 7), true);
          EXPECT_LT(largest_difference(run(*mixture, mix_input(3, 7), false), expected),
                    4e-6 * std::max(1.0, expected.abs().max().item<double>()))
              << "prepared " << name << gated << hidden << bias;
        }
}

/// Routed by the token, with weights of 1/2: a trained router's products depend on the batch's
/// size in their last bits.
TEST(ExpertMix, GivesAPositionTheSameBitsAloneAndInABatch) {
  const auto mixture =
      expert_mix({.experts = 4, .active = 2, .d_hidden = 40, .router = HashRouter{}});
  const auto x = mix_input(5, 61), ids = torch::arange(5 * 61).view({5, 61});
  torch::NoGradGuard no_grad;
  const auto of = [&](int64_t begin, int64_t end) {
    return mixture
        ->forward(x.slice(0, 3, 4).slice(1, begin, end),
                  {.token_ids = ids.slice(0, 3, 4).slice(1, begin, end)})
        .output;
  };
  const auto all = mixture->forward(x, {.token_ids = ids}).output.slice(0, 3, 4);
  for (const int64_t t : {0, 1, 17, 59})
    for (const int64_t count : {1, 2, 3})
      EXPECT_TRUE(torch::equal(of(t, t + count), all.slice(1, t, t + count))) << t << count;
}

TEST(ExpertMix, LeavesOutPaddingAndWhatFoundNoRoom) {
  const auto x = mix_input(4, 9);
  auto real = torch::ones({4, 9}, torch::kBool);
  real.slice(1, 6).fill_(false);
  for (const CapacityOptions& capacity :
       std::vector<CapacityOptions>{Dropless{}, LimitedCapacity{.evaluation = 0.5}}) {
    const auto mixture =
        expert_mix({.experts = 4, .active = 2, .d_hidden = 16, .capacity = capacity});
    const auto y = run(*mixture, x, false, real);
    EXPECT_EQ(y.slice(1, 6).abs().max().item<float>(), 0);
    EXPECT_LT(largest_difference(y, run(*mixture, x, true, real)), 1e-5);
  }
}

}  // namespace
}  // namespace ablate::models
