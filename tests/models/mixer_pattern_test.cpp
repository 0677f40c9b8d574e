#include <gtest/gtest.h>

#include "models/transformer.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

constexpr auto kAttention = MixerChoice::attention, kOther = MixerChoice::other;

/// A decoder of `layers` layers.
TransformerOptions plain_decoder(int64_t layers) {
  auto options = tiny();
  options.family = Family::decoder_only;
  options.layers = layers;
  return options;
}

bool has_parameter(Transformer& model, const std::string& name) {
  return model->named_parameters().contains(name);
}

TEST(MixerPattern, IsRepeatedOverTheLayers) {
  auto options = plain_decoder(5);
  options.other_attention = Convolution{};
  options.pattern = {kAttention, kOther, kOther};
  auto model = make(options);
  for (int64_t layer = 0; layer < 5; ++layer) {
    const auto mixer = "decoder.layers." + std::to_string(layer) + ".attention.";
    const bool attends = layer == 0 || layer == 3;
    EXPECT_EQ(has_parameter(model, mixer + "qkv.weight"), attends) << layer;
    EXPECT_EQ(has_parameter(model, mixer + "kernel.weight"), !attends) << layer;
  }
}

TEST(MixerPattern, OfSharedLayersIsThatOfTheDifferentOnes) {
  auto options = plain_decoder(6);
  options.other_attention = Average{};
  options.pattern = {kAttention, kOther};
  options.share.layers = 3;
  auto model = make(options);
  EXPECT_TRUE(has_parameter(model, "decoder.layers.0.attention.qkv.weight"));
  EXPECT_TRUE(has_parameter(model, "decoder.layers.1.attention.value.weight"));
  EXPECT_TRUE(has_parameter(model, "decoder.layers.2.attention.qkv.weight"));
  EXPECT_FALSE(has_parameter(model, "decoder.layers.3.attention.qkv.weight"));
}

/// What every layer's queries read of this sequence. // [1, H, T, T] each
std::vector<torch::Tensor> read_by_layers(Transformer& model) {
  std::vector<torch::Tensor> all;
  Observer observer;
  observer.attention = [&](const torch::Tensor& p) { all.push_back(p); };
  model->hidden({}, ids({{1, 5, 6, 7, 8, 9}}), {.observer = &observer});
  return all;
}

TEST(MixerPattern, AWindowIsThatOfItsOwnLayers) {
  const torch::NoGradGuard no_grad;
  for (const auto& position : std::vector<PositionOptions>{NoPosition{}, T5Bias{}, Shaw{}}) {
    auto options = plain_decoder(4);
    options.position = position;
    options.attention = MultiHead{.heads = 2, .window = 3};
    options.other_attention = MultiHead{.heads = 2};
    options.pattern = {kAttention, kAttention, kOther};
    auto model = make(options);
    const auto all = read_by_layers(model);
    ASSERT_EQ(all.size(), 4);
    const auto far = torch::ones({6, 6}).tril(-3).gt(0);
    for (size_t layer = 0; layer < all.size(); ++layer) {
      const auto read = all[layer].masked_select(far);
      if (layer == 2) {
        EXPECT_GT(read.min().item<double>(), 0);
      } else {
        EXPECT_EQ(read.max().item<double>(), 0) << layer;
      }
    }
  }
}

TEST(MixerPattern, LayersWithoutAMixerLeaveAStackOfThoseThatHaveOne) {
  const torch::NoGradGuard no_grad;
  const std::vector<PositionOptions> schemes{Shaw{}, TransformerXl{}, Cope{.positions = 4},
                                             Sinusoidal{}, Rotary{}};
  for (const auto& position : schemes) {
    auto sparse = plain_decoder(5), dense = plain_decoder(3);
    for (auto* options : {&sparse, &dense}) {
      options->position = position;
      options->feed_forward = NoFeedForward{};
      options->residual.depth = ResidualDepth::sqrt;
    }
    sparse.other_attention = NoAttention{};
    sparse.pattern = {kAttention, kOther};
    auto one = make(sparse), all = make(dense);
    for (auto& parameter : one->parameters()) parameter.add_(torch::randn_like(parameter) * 0.3);
    auto to = all->named_parameters();
    for (const auto& item : one->named_parameters()) {
      auto name = item.key();
      for (const auto& [from, at] : {std::pair{".2.", ".1."}, std::pair{".4.", ".2."}})
        if (const auto found = name.find(from); found != name.npos) {
          name.replace(found, 3, at);
          break;
        }
      ASSERT_TRUE(to.contains(name)) << name;
      to[name].copy_(item.value());
    }
    EXPECT_EQ(one->named_parameters().size(), to.size());
    const auto target = ids({{1, 5, 6, 7}, {1, 8, 9, 2}});
    EXPECT_TRUE(torch::equal(one->forward({}, target), all->forward({}, target)));
  }
}

TEST(MixerPattern, OfTwoEqualMixersIsThatOfOne) {
  const torch::NoGradGuard no_grad;
  const auto source = ids({{5, 6, 7, 2}}), target = ids({{1, 8, 9}});
  const auto expect_equal = [&](const std::string& name, TransformerOptions options) {
    options.attention = MultiHead{.heads = 2, .window = 3};
    auto one = make(options);
    options.other_attention = std::get<MultiHead>(options.attention);
    options.pattern = {kAttention, kOther};
    auto two = make(options);
    EXPECT_TRUE(torch::equal(one->forward(source, target), two->forward(source, target))) << name;
    if (!std::holds_alternative<Rotary>(options.position)) return;
    options.other_position = std::get<Rotary>(options.position);
    two = make(options);
    EXPECT_TRUE(torch::equal(one->forward(source, target), two->forward(source, target))) << name;
    options.other_position = NoPosition{};
    two = make(options);
    EXPECT_GT(largest_difference(one->forward(source, target), two->forward(source, target)), 1e-4);
  };
  for (const auto& [name, options] : position_variants()) expect_equal(name, options);
}

TEST(MixerPattern, EachSchemeHasTheHeadsAndLayersThatItServes) {
  auto options = plain_decoder(5);
  options.position = Shaw{.max_distance = 3};
  options.other_position = Shaw{.max_distance = 1};
  options.other_attention = MultiHead{.heads = 4};
  options.pattern = {kAttention, kOther};
  auto model = make(options);
  const auto parameters = model->named_parameters();
  EXPECT_EQ(parameters["decoder.position.keys"].sizes(), (std::vector<int64_t>{3, 7, 8}));
  EXPECT_EQ(parameters["decoder.other_position.keys"].sizes(), (std::vector<int64_t>{2, 3, 4}));
}

TEST(MixerPattern, ASidesOwnLiesOverTheModels) {
  auto options = tiny();
  options.other_attention = Average{};
  options.pattern = {kAttention, kOther};
  options.encoder.other_attention = Convolution{};
  options.decoder.pattern = MixerPattern{};
  const auto encoder = stack_of(options, Side::encoder), decoder = stack_of(options, Side::decoder);
  EXPECT_TRUE(std::holds_alternative<MultiHead>(encoder.attention_of(0)));
  EXPECT_TRUE(std::holds_alternative<Convolution>(encoder.attention_of(1)));
  EXPECT_TRUE(std::holds_alternative<MultiHead>(decoder.attention_of(1)));
  EXPECT_TRUE(cross_attention_of(options));
}

}  // namespace
}  // namespace ablate::models
