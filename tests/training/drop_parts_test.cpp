#include <gtest/gtest.h>

#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "training/weights.h"

namespace ablate::training {
namespace {

using models::HeadName;
using models::LayerName;
using models::Side;

torch::Tensor source_ids() { return models::ids({{5, 6, 7, 8, 2}, {9, 4, 2, 0, 0}}); }
torch::Tensor target_ids() { return models::ids({{1, 4, 5}, {1, 6, 7}}); }

/// The logits of a model with these weights.
torch::Tensor logits_of(const models::TransformerOptions& options, const Weights& weights) {
  auto model = models::make(options);
  load_weights(*model, weights);
  return model->forward(source_ids(), target_ids());
}

/// What the last stack gives where the heads of `masked` give zeros.
torch::Tensor with_masked(models::Transformer& model, const HeadName& masked) {
  size_t call = 0;
  const auto attentions = models::attentions_of(model->options());
  models::Observer observer;
  observer.heads = [&](const torch::Tensor& heads) {
    auto left = heads.clone();
    if (attentions.at(call++) == masked.attention) left.select(2, masked.head).zero_();
    return left;
  };
  return model->hidden(source_ids(), target_ids(), {.observer = &observer}).hidden;
}

/// Expects that the first and the last head of the model are missing where they are left out, and
/// that only they are.
void expect_masked(const std::string& name, const models::TransformerOptions& options) {
  auto model = models::make(options);
  const auto attentions = models::attentions_of(options);
  if (attentions.empty()) return;
  const HeadName first{attentions.front(), 0};
  const HeadName last{attentions.back(), models::head_count(options, attentions.back()) - 1};
  for (const auto& head : {first, last}) {
    auto without = models::make(options);
    load_weights(*without, drop_heads(weights_of(*model), options, std::vector{head}));
    const auto hidden = without->hidden(source_ids(), target_ids()).hidden;
    EXPECT_LT(models::rounding_difference(with_masked(model, head), hidden), 1e-5)
        << name << ": " << text_of(head);
    EXPECT_GT(models::largest_difference(model->hidden(source_ids(), target_ids()).hidden, hidden),
              1e-6)
        << name << ": " << text_of(head);
  }
}

TEST(DropHeads, IsTheModelInWhichTheyGiveZeros) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, options] : models::variants()) expect_masked(name, options);
  for (const auto family : {models::Family::decoder_only, models::Family::encoder_only}) {
    auto options = models::tiny();
    options.family = family;
    options.layer.attention = models::MultiHead{.heads = 4, .key_value_heads = 2};
    expect_masked(std::string(family == models::Family::decoder_only ? "decoder" : "encoder"),
                  options);
  }
}

TEST(DropHeads, LeavesTheBiasAndEverythingElseAndTheGivenTensorsAlone) {
  const auto options = models::tiny();
  auto model = models::make(options);
  const auto before = weights_of(*model);
  const HeadName head{{{Side::decoder, 1}, true}, 1};
  const auto after = drop_heads(before, options, std::vector{head});
  for (const auto& [name, tensor] : after) {
    if (name != "decoder.layers.1.cross_attention.out.weight") {
      EXPECT_TRUE(tensor.is_same(before.at(name))) << name;
      continue;
    }
    EXPECT_EQ(tensor.narrow(1, 8, 8).abs().max().item<float>(), 0);
    EXPECT_TRUE(torch::equal(tensor.narrow(1, 0, 8), before.at(name).narrow(1, 0, 8)));
    EXPECT_GT(before.at(name).narrow(1, 8, 8).abs().max().item<float>(), 0);
  }
}

/// Lets a layer of a model with norms before its sub-layers give its input.
void make_identity(const Weights& weights, const std::string& layer) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : weights)
    for (const auto* last :
         {"attention.out.weight", "attention.out.bias", "cross_attention.out.weight",
          "cross_attention.out.bias", "feed_forward.down.weight", "feed_forward.down.bias"})
      if (name == layer + "." + last) torch::Tensor(tensor).zero_();
}

TEST(DropLayers, AreThoseOfTheModelWithoutALayerThatDidNothing) {
  const torch::NoGradGuard no_grad;
  for (const models::PositionOptions& position : std::vector<models::PositionOptions>{
           models::Sinusoidal{}, models::Shaw{.max_distance = 3}, models::TransformerXl{},
           models::Cope{.positions = 4}, models::Pope{},
           models::Learned{.max_length = 3, .beyond = models::Beyond::clamp}}) {
    auto options = models::tiny("layers: 3, norm.placement: pre");
    options.layer.position = position;
    for (const int64_t layer : {0, 1, 2}) {
      auto model = models::make(options);
      // Tables that start at zero would hide that a wrong row was taken.
      for (const auto& item : model->named_parameters())
        if (item.key().find(".position.") != std::string::npos) item.value().normal_();
      make_identity(weights_of(*model), "decoder.layers." + std::to_string(layer));
      auto left = options;
      left.decoder_layers = 2;
      const std::vector layers{LayerName{Side::decoder, layer}};
      const auto weights = drop_layers(weights_of(*model), options, layers);
      EXPECT_LT(models::rounding_difference(model->forward(source_ids(), target_ids()),
                                            logits_of(left, weights)),
                1e-5)
          << layer;
    }
  }
}

TEST(DropLayers, MoveLaterLayersUpOnBothSides) {
  auto options = models::tiny("layers: 3");
  const auto weights = weights_of(*models::make(options));
  const std::vector layers{LayerName{Side::encoder, 0}, LayerName{Side::decoder, 1}};
  const auto left = drop_layers(weights, options, layers);
  const auto same = [&](const std::string& now, const std::string& before) {
    return left.at(now + ".attention.qkv.weight")
        .is_same(weights.at(before + ".attention.qkv.weight"));
  };
  EXPECT_TRUE(same("encoder.layers.0", "encoder.layers.1"));
  EXPECT_TRUE(same("encoder.layers.1", "encoder.layers.2"));
  EXPECT_TRUE(same("decoder.layers.0", "decoder.layers.0"));
  EXPECT_TRUE(same("decoder.layers.1", "decoder.layers.2"));
  EXPECT_FALSE(left.contains("decoder.layers.2.attention.qkv.weight"));
}

TEST(DropLayers, KeepAFeedForwardThatAllLayersShare) {
  const torch::NoGradGuard no_grad;
  auto options = models::tiny("feed_forward.shared: true");
  const auto weights = weights_of(*models::make(options));
  auto left = options;
  left.encoder_layers = 1;
  const std::vector layers{LayerName{Side::encoder, 0}};
  const auto kept = drop_layers(weights, options, layers);
  EXPECT_TRUE(kept.at("encoder.layers.0.feed_forward.up.weight")
                  .is_same(weights.at("encoder.layers.0.feed_forward.up.weight")));
  EXPECT_TRUE(kept.at("encoder.layers.0.attention.qkv.weight")
                  .is_same(weights.at("encoder.layers.1.attention.qkv.weight")));
  EXPECT_NO_THROW(logits_of(left, kept));
}

TEST(DropParts, HeadsAreNamedAsBeforeLayersAreMissing) {
  auto options = models::tiny("layers: 3");
  const auto weights = weights_of(*models::make(options));
  const auto left =
      drop_parts(weights, options,
                 {.heads = {"encoder.layers.2.attention.0"}, .layers = {"encoder.layers.0"}});
  EXPECT_EQ(
      left.at("encoder.layers.1.attention.out.weight").narrow(1, 0, 8).abs().max().item<float>(),
      0);
  EXPECT_GT(
      left.at("encoder.layers.0.attention.out.weight").narrow(1, 0, 8).abs().min().item<float>(),
      0);
}

}  // namespace
}  // namespace ablate::training
