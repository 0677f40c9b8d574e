#include <gtest/gtest.h>

#include "models/transformer.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

TransformerOptions decoder_of(const std::string& keys) {
  return tiny("family: decoder_only", keys);
}

bool has_parameter(Transformer& model, const std::string& name) {
  return model->named_parameters().contains(name);
}

TEST(Layers, EachHasItsOwnMixer) {
  auto model = make(decoder_of("layers: 5, changes: [{at: [2, 3, 5], attention: convolution}]"));
  for (int64_t layer = 0; layer < 5; ++layer) {
    const auto mixer = "decoder.layers." + std::to_string(layer) + ".attention.";
    const bool attends = layer == 0 || layer == 3;
    EXPECT_EQ(has_parameter(model, mixer + "qkv.weight"), attends) << layer;
    EXPECT_EQ(has_parameter(model, mixer + "kernel.weight"), !attends) << layer;
  }
}

TEST(Layers, ThatAreSharedAreListedOnce) {
  auto model =
      make(decoder_of("layers: 6, share.layers: 3, changes: [{at: [2], attention: average}]"));
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

TEST(Layers, AWindowIsThatOfItsOwnLayers) {
  const torch::NoGradGuard no_grad;
  for (const std::string position : {"none", "t5", "shaw"}) {
    auto model = make(
        decoder_of("layers: 4, attention.window: 3, changes: [{at: [3], attention.window: null}], "
                   "position: " +
                   position));
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

TEST(Layers, WithoutAMixerLeaveAStackOfThoseThatHaveOne) {
  const torch::NoGradGuard no_grad;
  for (const std::string position :
       {"shaw", "transformer_xl", "{kind: cope, positions: 4}", "sinusoidal", "rotary"}) {
    const auto keys = "feed_forward: none, residual.depth: sqrt, position: " + position;
    auto one = make(decoder_of(keys + ", layers: 5, changes: [{at: [2, 4], attention: none}]")),
         all = make(decoder_of(keys + ", layers: 3"));
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

TEST(Layers, AListOfWhatTheModelSaysChangesNothing) {
  const torch::NoGradGuard no_grad;
  const auto source = ids({{5, 6, 7, 2}}), target = ids({{1, 8, 9}});
  for (auto [name, options] : variants()) {
    auto one = make(options);
    own_layers(options, Side::encoder);
    own_layers(options, Side::decoder);
    auto two = make(options);
    EXPECT_TRUE(torch::equal(one->forward(source, target), two->forward(source, target))) << name;
    EXPECT_EQ(one->named_parameters().keys(), two->named_parameters().keys()) << name;
  }
}

TEST(Layers, EachSchemeHasTheHeadsAndLayersThatItServes) {
  const std::string keys =
      "layers: 5, position: {kind: shaw, max_distance: 3}, "
      "changes: [{at: [2, 4], position.max_distance: 1, attention.heads: 4}";
  auto parameters = make(decoder_of(keys + "]"))->named_parameters();
  EXPECT_EQ(parameters["decoder.position.keys"].sizes(), (std::vector<int64_t>{3, 7, 8}));
  EXPECT_EQ(parameters["decoder.position_2.keys"].sizes(), (std::vector<int64_t>{2, 3, 4}));
  parameters =
      make(decoder_of(keys + ", {at: [2], position.max_distance: 3}]"))->named_parameters();
  EXPECT_EQ(parameters["decoder.position_2.keys"].sizes(), (std::vector<int64_t>{1, 7, 4}))
      << "equal options, other heads";
  EXPECT_EQ(parameters["decoder.position_4.keys"].sizes(), (std::vector<int64_t>{1, 3, 4}));
}

/// What every layer gives for one sequence. // [1, T, D] each
std::vector<torch::Tensor> outputs_of(Transformer& model) {
  std::vector<torch::Tensor> all;
  Observer observer;
  observer.layer_output = [&](const torch::Tensor& x) { all.push_back(x); };
  model->hidden({}, ids({{1, 5, 5, 5}}), {.observer = &observer});
  return all;
}

// Without a mixer the same token gives the same output at every position, unless vectors were
// added.
TEST(Layers, PositionsAreAddedBeforeTheFirstLayerThatHasThem) {
  const torch::NoGradGuard no_grad;
  auto model = make(decoder_of(
      "layers: 3, attention: none, position: none, changes: [{at: [2, 3], position: sinusoidal}]"));
  const auto outputs = outputs_of(model);
  const auto differs = [&](size_t layer) {
    return largest_difference(outputs.at(layer)[0][1], outputs.at(layer)[0][3]) > 1e-3;
  };
  EXPECT_FALSE(differs(0));
  EXPECT_TRUE(differs(1));
  EXPECT_TRUE(differs(2));
}

TEST(Layers, TheFinalNormIsThatOfTheLastLayer) {
  const std::string keys =
      "layers: 3, norm: {kind: rms, placement: pre}, changes: [{at: [3], norm: ";
  auto model = make(decoder_of(keys + "{kind: tanh}}]"));
  EXPECT_TRUE(has_parameter(model, "decoder.norm.alpha"));
  model = make(decoder_of(keys + "{kind: tanh, placement: post}}]"));
  EXPECT_FALSE(has_parameter(model, "decoder.norm.weight"));
}

TEST(Layers, EqualSharedFeedForwardsAreOneAndOthersAreNot) {
  auto model =
      make(decoder_of("layers: 5, feed_forward.shared: true, changes: [{at: [2, 4], "
                      "feed_forward.d_hidden: 8}, {at: [5], feed_forward.shared: false}]"));
  const auto owns = [&](int layer) {
    return has_parameter(model,
                         "decoder.layers." + std::to_string(layer) + ".feed_forward.up.weight");
  };
  EXPECT_TRUE(owns(0));
  EXPECT_TRUE(owns(1));
  EXPECT_FALSE(owns(2));
  EXPECT_FALSE(owns(3));
  EXPECT_TRUE(owns(4));
}

TEST(LayerOptions, AreEqualIfNoFieldDiffers) {
  const auto layer = tiny().layer;
  const auto differs = [&](auto&& change) {
    auto other = layer;
    change(other);
    return other != layer;
  };
  EXPECT_FALSE(differs([](auto&) {}));
  EXPECT_TRUE(differs([](auto& o) { std::get<MultiHead>(o.attention).window = 4; }));
  EXPECT_TRUE(differs([](auto& o) { std::get<MultiHead>(o.attention).scale.learned = true; }));
  EXPECT_TRUE(differs([](auto& o) { std::get<Sinusoidal>(o.position).every_layer = true; }));
  EXPECT_TRUE(differs([](auto& o) { o.attention = Lstm{}; }));
  EXPECT_TRUE(differs([](auto& o) { o.norm.alpha = 1; }));
  EXPECT_TRUE(differs([](auto& o) { o.block = Block::parallel; }));
  EXPECT_TRUE(differs([](auto& o) { o.canon.places = {CanonPlace::hidden}; }));
}

}  // namespace
}  // namespace ablate::models
