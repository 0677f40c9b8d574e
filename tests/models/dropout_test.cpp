#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "models/residual.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

const ForwardContext kTraining{.training = true, .dropout = 0.5, .seed = 11};

/// The mask of every place that drops, by the module's name.
std::map<std::string, torch::Tensor> masks_of(const TransformerOptions& options,
                                              const ForwardContext& context) {
  std::map<std::string, torch::Tensor> masks;
  const auto model = make(options);
  for (const auto& item : model->named_modules())
    if (const auto dropout = std::dynamic_pointer_cast<DropoutImpl>(item.value()))
      masks[item.key()] = dropout->forward(torch::ones({4, 32}), context).ne(0);
  return masks;
}

TEST(DropoutSite, ArmsShareTheMasksOfThePlacesTheyShare) {
  const auto baseline = masks_of(tiny(), kTraining);
  EXPECT_EQ(baseline.size(), 2 + 2 * 2 + 2 * 3);
  for (const auto& [name, options] : variants()) {
    size_t shared = 0;
    for (const auto& [key, mask] : masks_of(options, kTraining)) {
      if (!baseline.contains(key)) continue;
      EXPECT_TRUE(torch::equal(baseline.at(key), mask)) << name << " " << key;
      ++shared;
    }
    EXPECT_GE(shared, 6) << name;
  }
}

TEST(DropoutSite, PlacesAndPassesDifferInTheirMasks) {
  const auto first = masks_of(tiny(), kTraining);
  auto other = kTraining;
  other.seed = 12;
  const auto second = masks_of(tiny(), other);
  for (const auto& [key, mask] : first) {
    EXPECT_FALSE(torch::equal(mask, second.at(key))) << key;
    for (const auto& [name, another] : first)
      EXPECT_EQ(torch::equal(mask, another), name == key) << key << " " << name;
  }
}

TEST(DropoutSite, ATrainedFactorTrainsOnTheNumbersOfThePlainOneAtFirst) {
  auto learned = tiny();
  learned.layer.residual.per = FactorPer::layer;  // its factors start at 1
  const auto source = ids({{5, 6, 7, 2}}), target = ids({{1, 8, 9}});
  EXPECT_TRUE(torch::equal(make(learned)->hidden(source, target, kTraining).hidden,
                           make(tiny())->hidden(source, target, kTraining).hidden));
}

/// Of a model without sub-layers, whose output is the sum of embeddings and positions.
TEST(DropoutSite, TheSumOfEmbeddingAndPositionIsDroppedAndTheRestOfItScaled) {
  const torch::NoGradGuard no_grad;
  auto options = tiny("family: decoder_only, attention: none, feed_forward: none");
  auto model = make(options);
  const auto target = torch::randint(3, 20, {40, 50});
  const auto plain = model->hidden({}, target, {}).hidden;
  const auto trained = model->hidden({}, target, kTraining).hidden;
  const auto dropped = trained.eq(0);
  EXPECT_TRUE(dropped.logical_or((trained - 2 * plain).abs().lt(1e-5)).all().item<bool>());
  EXPECT_NEAR(dropped.to(torch::kDouble).mean().item<double>(), 0.5,
              5 * std::sqrt(0.25 / static_cast<double>(dropped.numel())));
}

/// Attention, hidden layers, embeddings and a head, each with a rate of its own.
std::vector<std::string> places_of_their_own() {
  std::vector<std::string> all{
      "attention.dropout: 0.5",
      "attention: {kind: latent, dropout: 0.5}",
      "feed_forward: {d_hidden: 16, dropout: 0.5}",
      "feed_forward: {kind: moe, experts: 3, active: 2, d_hidden: 16, dropout: 0.5, "
      "shared_experts: 1}",
      "feed_forward: {kind: moe, d_hidden: 16, dropout: 0.5, match: active}",
      "embedding_dropout: 0.5",
      "final_dropout: 0.5",
      "family: encoder_only, tying: none, output: {kind: label, pool: mean, dropout: 0.5}"};
  // By content, in a decoder without cross-attention, which drops, too.
  for (const std::string position :
       {"{kind: shaw, max_distance: 3}", "transformer_xl", "{kind: cope, positions: 4}", "pope"})
    all.push_back("family: decoder_only, attention.dropout: 0.5, position: " + position);
  return all;
}

TEST(DropoutSite, APlaceWithARateOfItsOwnDropsInTrainingAloneByTheSeedOfThePass) {
  const torch::NoGradGuard no_grad;
  const auto source = ids({{5, 6, 7, 2, 9, 10}}), target = ids({{1, 8, 9, 11, 12, 13}});
  for (const auto& place : places_of_their_own()) {
    auto model = make(tiny(place));
    const auto run = [&](const ForwardContext& context) {
      return model->hidden(source, target, context).hidden;
    };
    const auto evaluated = run({}), trained = run({.training = true, .seed = 3});
    EXPECT_GT(largest_difference(evaluated, trained), 1e-3) << place;
    EXPECT_TRUE(torch::equal(trained, run({.training = true, .seed = 3}))) << place;
    EXPECT_GT(largest_difference(trained, run({.training = true, .seed = 4})), 1e-3) << place;
  }
}

TEST(DropoutSite, ARateOfItsOwnLeavesWhatOthersDrop) {
  const auto source = ids({{5, 6, 7, 2}}), target = ids({{1, 8, 9}});
  auto own = tiny();
  own.embedding_dropout = kTraining.dropout;
  EXPECT_TRUE(torch::equal(make(own)->hidden(source, target, kTraining).hidden,
                           make(tiny())->hidden(source, target, kTraining).hidden));
  own.embedding_dropout = 0;
  const auto masks = masks_of(own, kTraining);
  for (const auto& [key, mask] : masks_of(tiny(), kTraining))
    EXPECT_EQ(torch::equal(mask, masks.at(key)), !key.ends_with("coder.dropout")) << key;
}

TEST(DropoutSite, LayersThatShareAFeedForwardDropOtherElementsOfItsHiddenLayer) {
  const torch::NoGradGuard no_grad;
  auto options = tiny(
      "family: decoder_only, layers: 2, feed_forward: {d_hidden: 64, activation: sigmoid, dropout: "
      "0.5, shared: true}");
  auto model = make(options);
  std::vector<torch::Tensor> kept;
  Observer observer;
  observer.hidden_layer = [&](const torch::Tensor& hidden) { kept.push_back(hidden.ne(0)); };
  model->hidden({}, torch::randint(3, 20, {4, 50}),
                {.training = true, .seed = 3, .observer = &observer});
  ASSERT_EQ(kept.size(), 2);
  EXPECT_NEAR((kept[0] & kept[1]).to(torch::kDouble).mean().item<double>(), 0.25, 0.02);
}

TEST(DropoutSite, DropsNothingOutsideTraining) {
  auto context = kTraining;
  context.training = false;
  const auto x = torch::randn({3, 4});
  EXPECT_TRUE(Dropout()->forward(x, context).is_same(x));
}

}  // namespace
}  // namespace ablate::models
