#include <gtest/gtest.h>

#include "models/mixer.h"
#include "tests/models/golden.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models::mamba2 {
namespace {

// golden/formulas.py documents these widths.
constexpr int64_t kModel = 8, kLength = 6;
constexpr double kRounding = 1e-6;  // of norms in float32

std::shared_ptr<Mixer> mixer() {
  auto stack = stack_of(tiny(), Side::decoder);
  stack.d_model = kModel;
  stack.bias = false;
  for (auto& layer : stack.layers) layer.norm.epsilon = golden().at("mamba2").at("epsilon");
  auto made = Mamba2{.heads = 4, .state_size = 5}.make(stack);
  made->to(torch::kDouble);
  auto ours = made->named_parameters();
  const torch::NoGradGuard no_grad;
  int64_t number = 30;
  for (const std::string foreign : golden().at("mamba2").at("parameters")) {
    const int64_t own = number++;
    if (foreign == "in_proj.weight") {
      const auto rows = values(own, {2 * 16 + 2 * 5 + 4, kModel});
      ours["projection.weight"].copy_(rows.slice(0, 0, -4));
      ours["step.weight"].copy_(rows.slice(0, -4));
    } else if (foreign == "conv1d.weight") {
      ours["canon.weight"].copy_(values(own, {16 + 2 * 5, 4}).flip(1).t());
    } else {
      const std::map<std::string, std::string> names{{"dt_bias", "step_bias"},
                                                     {"A_log", "log_rate"},
                                                     {"D", "skip"},
                                                     {"norm.weight", "output_norm.weight"},
                                                     {"out_proj.weight", "out.weight"}};
      auto& parameter = ours[names.at(foreign)];
      parameter.copy_(values(own, parameter.sizes()));
    }
  }
  return made;
}

torch::Tensor expected() { return table(golden().at("mamba2").at("output")); }

TEST(Mamba2, IsThatOfTransformers) {
  const torch::NoGradGuard no_grad;
  const auto x = values(16, {1, kLength, kModel});
  EXPECT_LT(largest_difference(mixer()->forward(x, {}, {})[0], expected()), kRounding);
}

/// Step by step it is Transformers', by the test below.
TEST(Mamba2, RatesOfDecayStartEvenlyBetween1And16) {
  auto stack = stack_of(tiny(), Side::decoder);
  stack.d_model = 256;
  const auto made = Mamba2{.heads = 256, .state_size = 2}.make(stack);
  initialize(*made, 1);
  const auto rates = made->named_parameters()["log_rate"].detach().exp();
  EXPECT_GE(rates.min().item<double>(), 1);
  EXPECT_LE(rates.max().item<double>(), 16);
  EXPECT_NEAR(rates.mean().item<double>(), 8.5, 1);
  EXPECT_NEAR(rates.lt(8.5).to(torch::kFloat).mean().item<double>(), 0.5, 0.12);
}

TEST(Mamba2, ReadsItsStateFromChunkToChunk) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  const auto x = torch::randn({1, 300, kModel}, torch::kDouble);
  const auto one = mixer();
  const auto together = one->forward(x, {}, {});
  auto cache = one->empty_cache(x);
  begin(one->canon(), cache, x);
  for (int64_t t = 0; t < x.size(1); ++t)
    EXPECT_LT(largest_difference(one->step(x.narrow(1, t, 1), cache, {}, {})[0][0], together[0][t]),
              kRounding)
        << t;
}

TEST(Mamba2, GoesOnFromItsState) {
  const torch::NoGradGuard no_grad;
  const auto x = values(16, {1, kLength, kModel});
  const auto one = mixer();
  auto cache = one->empty_cache(x);
  begin(one->canon(), cache, x);
  for (int64_t t = 0; t < kLength; ++t)
    EXPECT_LT(largest_difference(one->step(x.narrow(1, t, 1), cache, {}, {})[0][0], expected()[t]),
              kRounding);
}

}  // namespace
}  // namespace ablate::models::mamba2
