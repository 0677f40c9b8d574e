#include <gtest/gtest.h>

#include <cmath>

#include "models/mixture.h"
#include "models/ops/linear_cross_entropy.h"
#include "tokenizer/special_ids.h"
#include "training/update.h"
#include "training/weights.h"

namespace ablate::training {
namespace {

using models::MixtureOptions;

constexpr int64_t kPieces = 12;

models::Transformer with(const models::FeedForwardOptions& feed_forward) {
  models::Transformer model(models::TransformerOptions{.d_model = 16,
                                                       .layers = 2,
                                                       .attention = models::MultiHead{.heads = 2},
                                                       .feed_forward = feed_forward},
                            models::Vocabulary{kPieces, kPieces, tokenizer::kPad});
  models::initialize(*model, 1);
  return model;
}

data::Batch three_pairs() {
  std::vector<data::EncodedExample> pairs = {
      {{5, 6, 7, 2}, {7, 6, 5, 2}}, {{8, 2}, {9, 2}}, {{4, 9, 2}, {9, 4, 4, 10, 2}}};
  const std::vector<int64_t> rows{0, 1, 2};
  return data::collate(pairs, rows);
}

UpdateOptions plain_updates() {
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
    if (!weights.contains(dense)) continue;
    const auto weight = name.ends_with("down") ? weights.at(dense).t() : weights.at(dense);
    torch::Tensor(tensor).copy_(weight.unsqueeze(0).expand_as(tensor));
  }
}

TEST(MixtureTraining, OneExpertHasTheLossesOfTheDenseModelOverFiftySteps) {
  auto dense = with(models::DenseFeedForward{.d_hidden = 24});
  auto mixture = with(small(models::SoftmaxRouter{}, 1, 1));
  upcycle(dense, mixture);
  const Adam adam{.epsilon = 1e-3};
  const auto first = make_optimizer(adam, *dense), second = make_optimizer(adam, *mixture);
  const auto one = three_pairs();
  for (int step = 0; step < 50; ++step) {
    const double a = update(dense, *first, {&one, 1}, plain_updates()).loss;
    const double b = update(mixture, *second, {&one, 1}, plain_updates()).loss;
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
  const auto optimizer = make_optimizer(Adam{}, *model);
  const auto one = three_pairs();
  const auto mixtures = update(model, *optimizer, {&one, 1}, plain_updates()).mixtures;
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
    const auto optimizer = make_optimizer(Adam{}, *model);
    const auto one = three_pairs();
    auto mixture = update(model, *optimizer, {&one, 1}, plain_updates()).mixtures[0];
    mixture.shares.assign(4, 0.25);  // not collapsed, whatever it did
    if (penalised)
      EXPECT_GT(mixture.router_gradient, 1e-6);
    else
      EXPECT_EQ(mixture.fault(),
                "encoder.layers.0.feed_forward: the router gets no gradient; it will never learn");
  }
}

data::Batch batch_of(std::vector<int64_t> rows) {
  std::vector<data::EncodedExample> pairs = {{{5, 6, 7, 2}, {7, 6, 5, 8, 9, 2}}, {{8, 2}, {9, 2}}};
  return data::collate(pairs, rows);
}

TEST(MixtureTraining, TheAuxiliaryLossOfABatchCountsByItsShareOfTheTokens) {
  auto options = small(models::SoftmaxRouter{}, 2);
  options.balance = {.load = 0.3, .z = 0.5};
  auto model = with(options), same = with(options);
  const std::vector<data::Batch> batches{batch_of({0}), batch_of({1})};  // 6 and 2 tokens
  torch::Tensor objective;
  for (const auto& one : batches) {
    const auto tensors = to_tensors(one, torch::kCPU);
    const auto output = same->hidden(tensors.source, tensors.target_in, {.training = true});
    const auto loss =
        models::ops::linear_cross_entropy(output.hidden, same->output_weight(), tensors.target_out,
                                          {.ignored = tokenizer::kPad, .smoothing = 0.1})
            .loss;
    torch::Tensor aux_loss = torch::zeros({});
    for (const auto& routing : output.routings) {
      const auto statistics = models::statistics_of(routing);
      aux_loss = aux_loss + (0.3 * statistics.load + 0.5 * statistics.z) / 4.0;
    }
    const auto part = (loss + aux_loss * static_cast<double>(one.tokens)) / 8.0;
    objective = objective.defined() ? objective + part : part;
  }
  objective.backward();
  double square = 0;
  for (const auto& parameter : same->parameters())
    if (parameter.grad().defined()) square += std::pow(parameter.grad().norm().item<double>(), 2);
  const auto optimizer = make_optimizer(Adam{}, *model);
  EXPECT_NEAR(update(model, *optimizer, batches, plain_updates()).gradient_norm, std::sqrt(square),
              1e-5);
}

TEST(MixtureTraining, NoisyRoutersLearnTheSizeOfTheirNoise) {
  auto model = with(small(models::NoisyRouter{}, 2));
  const auto optimizer = make_optimizer(Adam{}, *model);
  const auto before = weights_of(*model).at("encoder.layers.0.feed_forward.router.noise").clone();
  const auto one = three_pairs();
  update(model, *optimizer, {&one, 1}, plain_updates());
  const auto after = weights_of(*model).at("encoder.layers.0.feed_forward.router.noise");
  EXPECT_GT((after - before).abs().max().item<double>(), 1e-4);
}

TEST(MixtureTraining, ASelectionBiasMovesOnceAnUpdateWhateverItAccumulates) {
  auto model = with(small(models::SigmoidRouter{.bias_step = 0.25}, 2));
  const auto optimizer = make_optimizer(Adam{}, *model);
  const std::vector<data::Batch> batches{three_pairs(), three_pairs(), three_pairs()};
  const auto bias = weights_of(*model).at("decoder.layers.1.feed_forward.router.bias");
  update(model, *optimizer, batches, plain_updates());
  EXPECT_NEAR(bias.abs().max().item<double>(), 0.25, 1e-9);
}

TEST(MixtureTraining, BiasesOfExpertsDoNotDecay) {
  models::Mixture mixture(small(models::SoftmaxRouter{}, 2),
                          {.d_model = 8, .layers = 1, .causal = false, .bias = true});
  std::map<std::string, double> before, after;
  for (auto& item : mixture.named_parameters()) {
    torch::NoGradGuard no_grad;
    item.value().fill_(1.0);
    item.value().mutable_grad() = torch::zeros_like(item.value());
  }
  make_optimizer(AdamW{Adam{}, 0.5}, mixture)->step(0.1);
  for (const auto& item : mixture.named_parameters())
    EXPECT_NEAR(item.value().view(-1)[0].item<double>(),
                item.key().ends_with("bias") ? 1.0 : 1.0 - 0.1 * 0.5, 1e-6)
        << item.key();
}

TEST(Weights, OfAnotherNumberOfExpertsAreRefusedByName) {
  auto four = with(small(models::SoftmaxRouter{}, 2, 4)),
       six = with(small(models::SoftmaxRouter{}, 2, 6));
  try {
    load_weights(*six, weights_of(*four));
    FAIL() << "six experts took the weights of four";
  } catch (const c10::Error& error) {
    EXPECT_NE(
        std::string(error.what())
            .find(
                "feed_forward.down' is [4, 24, 16] in the checkpoint and [6, 24, 16] in the model"),
        std::string::npos)
        << error.what();
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

}  // namespace
}  // namespace ablate::training
