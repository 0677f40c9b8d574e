#include <gtest/gtest.h>

#include <cmath>

#include "tests/training/mixture_model.h"
#include "training/observation.h"

namespace ablate::training {
namespace {

TEST(MixtureRecord, RecordsNameEveryMixtureAndAddUp) {
  auto model = model_with(mixture_of(models::SoftmaxRouter{}, 2));
  const auto optimizer = make_optimizer(Adam{}, *model);
  const auto one = three_pairs();
  const auto mixtures = update(model, *optimizer, {&one, 1}, mixture_updates()).mixtures;
  ASSERT_EQ(mixtures.size(), 4U);
  EXPECT_EQ(mixtures[0].name, "encoder.layers.0.feed_forward");
  EXPECT_EQ(mixtures[3].name, "decoder.layers.1.feed_forward");
  for (const auto& mixture : mixtures) {
    double sum = 0;
    for (const double share : mixture.shares) sum += share;
    EXPECT_NEAR(sum, 1.0, 1e-9);
    EXPECT_GT(mixture.router_gradient, 1e-6) << mixture.name;
    EXPECT_GT(mixture.entropy, 0.0);
    EXPECT_LE(mixture.entropy, std::log(4.0) + 1e-6);
    EXPECT_EQ(mixture.fault(), "");
  }
}

TEST(MixtureRecord, ThePenaltyMovesTheRouterWhereTheTaskCannot) {
  for (const bool penalised : {false, true}) {
    auto options = mixture_of(models::SoftmaxRouter{.renormalize = true}, 1);
    options.balance = {.load = penalised ? 1.0 : 0.0, .z = 0.0};
    auto model = model_with(options);
    const auto optimizer = make_optimizer(Adam{}, *model);
    const auto one = three_pairs();
    auto mixture = update(model, *optimizer, {&one, 1}, mixture_updates()).mixtures[0];
    mixture.shares.assign(4, 0.25);  // not collapsed, whatever it did
    if (penalised)
      EXPECT_GT(mixture.router_gradient, 1e-6);
    else
      EXPECT_EQ(mixture.fault(),
                "encoder.layers.0.feed_forward: the router gets no gradient; it will never learn");
  }
}

TEST(MixtureRecord, VariationAndHighestShare) {
  const MixtureRecord even{.name = "m", .shares = {0.25, 0.25, 0.25, 0.25}};
  EXPECT_NEAR(even.variation(), 0.0, 1e-12);
  EXPECT_NEAR(even.highest(), 1.0, 1e-12);
  // Relative to the mean: 2, 1, 1, 0.
  const MixtureRecord uneven{.name = "m", .shares = {0.5, 0.25, 0.25, 0.0}};
  EXPECT_NEAR(uneven.variation(), std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(uneven.highest(), 2.0, 1e-12);
  const MixtureRecord collapsed{.name = "m", .shares = {0.0, 1.0, 0.0, 0.0}, .load = 4};
  EXPECT_EQ(collapsed.fault(),
            "m: collapsed, 1 of 4 experts get every position; raise balance.load");
  const MixtureRecord two{.name = "m", .active = 2, .shares = {0.5, 0.0, 0.5, 0.0}, .load = 2};
  EXPECT_EQ(two.fault(), "m: collapsed, 2 of 4 experts get every position; raise balance.load");
  const MixtureRecord three{
      .name = "m", .active = 2, .shares = {0.5, 0.1, 0.4, 0.0}, .load = 2, .router_gradient = 1};
  EXPECT_EQ(three.fault(), "");
}

TEST(MixtureRecord, ACollapseIsSaidOnceAndSoIsItsEnd) {
  const MixtureRecord collapsed{.name = "m", .shares = {0.0, 1.0, 0.0, 0.0}};
  const MixtureRecord even{.name = "m", .shares = {0.4, 0.2, 0.2, 0.2}};
  std::set<std::string> faulty;
  EXPECT_EQ(news_of(even, faulty), "");
  EXPECT_TRUE(news_of(collapsed, faulty).starts_with("m: collapsed, 1 of 4 experts"));
  EXPECT_EQ(news_of(collapsed, faulty), "");
  EXPECT_EQ(news_of(even, faulty), "m: healed, the largest load is 1.6 times the mean");
  EXPECT_EQ(news_of(even, faulty), "");
  EXPECT_NE(news_of(collapsed, faulty), "") << "a second collapse is one";
}

}  // namespace
}  // namespace ablate::training
