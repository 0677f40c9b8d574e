#include <gtest/gtest.h>

#include <cmath>

#include "models/mixture.h"
#include "tokenizer/special_ids.h"
#include "training/update.h"
#include "training/weights.h"

namespace ablate::training {
namespace {

using models::MixtureOptions;

constexpr int64_t kVocabulary = 12;

models::Transformer with(const models::FeedForwardOptions& feed_forward) {
  torch::manual_seed(1);
  return models::Transformer(models::TransformerOptions{.d_model = 16,
                                                        .layers = 2,
                                                        .attention = models::MultiHead{.heads = 2},
                                                        .feed_forward = feed_forward},
                             models::Vocabulary{kVocabulary, kVocabulary, tokenizer::kPad});
}

data::Batch batch() {
  std::vector<data::EncodedExample> pairs = {
      {{5, 6, 7, 2}, {7, 6, 5, 2}}, {{8, 2}, {9, 2}}, {{4, 9, 2}, {9, 4, 4, 10, 2}}};
  const std::vector<int64_t> rows{0, 1, 2};
  return data::collate(pairs, rows);
}

UpdateOptions plain() {
  return {.learning_rate = 1e-3,
          .label_smoothing = 0.1,
          .clip = 0,
          .dropout = 0,
          .dropout_seed = 3,
          .bfloat16 = false,
          .mixtures = true};
}

MixtureOptions small(models::RouterOptions router, int64_t active, int64_t experts = 4) {
  return {.experts = experts, .active = active, .d_hidden = 24, .router = router};
}

/// Copies `from`'s weights into `to`, a dense feed-forward's into every expert.
void upcycle(models::Transformer& from, models::Transformer& to) {
  torch::NoGradGuard no_grad;
  const auto weights = weights_of(*from);
  for (auto& [name, tensor] : weights_of(*to)) {
    const bool bias = name.ends_with("_bias");
    const auto dense = bias ? name.substr(0, name.size() - 5) + ".bias" : name + ".weight";
    if (weights.contains(name)) torch::Tensor(tensor).copy_(weights.at(name));
    if (weights.contains(dense))
      torch::Tensor(tensor).copy_(weights.at(dense).unsqueeze(0).expand_as(tensor));
  }
}

TEST(MixtureTraining, OneExpertHasTheLossesOfTheDenseModelOverFiftySteps) {
  auto dense = with(models::DenseFeedForward{.d_hidden = 24});
  auto mixture = with(small(models::SoftmaxRouter{}, 1, 1));
  upcycle(dense, mixture);
  Optimizer first(*dense, Adam{.epsilon = 1e-3}), second(*mixture, Adam{.epsilon = 1e-3});
  const auto one = batch();
  for (int step = 0; step < 50; ++step) {
    const double a = update(dense, first, {&one, 1}, plain()).loss;
    const double b = update(mixture, second, {&one, 1}, plain()).loss;
    ASSERT_NEAR(a, b, 1e-4) << step;
  }
}

TEST(MixtureTraining, AnUpcycledMixtureIsTheDenseModelBeforeTheFirstStep) {
  torch::NoGradGuard no_grad;
  auto dense = with(models::DenseFeedForward{.d_hidden = 24});
  auto mixture = with(small(models::SoftmaxRouter{}, 2));
  upcycle(dense, mixture);
  const auto source = torch::tensor({{5, 6, 7, 2}}), target = torch::tensor({{1, 8, 9}});
  EXPECT_LT((dense->forward(source, target) - mixture->forward(source, target))
                .abs()
                .max()
                .item<double>(),
            1e-5);
}

TEST(MixtureTraining, RecordsNameEveryMixtureAndAddUp) {
  auto model = with(small(models::SoftmaxRouter{}, 2));
  Optimizer optimizer(*model, Adam{});
  const auto one = batch();
  const auto mixtures = update(model, optimizer, {&one, 1}, plain()).mixtures;
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

TEST(MixtureTraining, ThePenaltyMovesTheRouterWhereTheTaskCannot) {
  for (const bool penalised : {false, true}) {
    auto options = small(models::SoftmaxRouter{.renormalize = true}, 1);
    options.balance = {.load = penalised ? 1.0 : 0.0, .z = 0.0};
    auto model = with(options);
    Optimizer optimizer(*model, Adam{});
    const auto one = batch();
    const auto mixture = update(model, optimizer, {&one, 1}, plain()).mixtures[0];
    if (penalised)
      EXPECT_GT(mixture.router_gradient, 1e-6);
    else
      EXPECT_EQ(mixture.fault(),
                "encoder.layers.0.feed_forward: the router gets no gradient; it will never learn");
  }
}

TEST(MixtureTraining, SplittingABatchWeighsThePenaltyByTokens) {
  // The penalty of a batch of three quarters of the tokens counts three quarters.
  auto options = small(models::SoftmaxRouter{}, 2);
  options.balance = {.load = 0.0, .z = 0.5};
  auto whole = with(options), twice = with(options);
  Optimizer first(*whole, Adam{.epsilon = 1e-3}), second(*twice, Adam{.epsilon = 1e-3});
  const auto one = batch();
  const std::vector<data::Batch> two{one, one};
  update(whole, first, {&one, 1}, plain());
  update(twice, second, two, plain());
  const auto a = whole->parameters(), b = twice->parameters();
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_LT((a[i] - b[i]).abs().max().item<double>(), 1e-5) << i;
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
            "m: collapsed, one expert gets every position; raise balance.load");
}

}  // namespace
}  // namespace ablate::training
