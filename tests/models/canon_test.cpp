#include <gtest/gtest.h>

#include <map>

#include "models/ops/short_convolution.h"
#include "models/stack/layer.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

/// A decoder whose layers have one sub-layer behind a norm and no bias.
TransformerOptions one_sub_layer(CanonPlace place) {
  auto options = tiny("family: decoder_only, norm.placement: pre, bias: false, position: none");
  const bool mixes = place == CanonPlace::attention || place == CanonPlace::projections;
  if (mixes)
    options.layer.feed_forward = NoFeedForward{};
  else
    options.layer.attention = NoAttention{};
  return options;
}

/// What the sub-layer of the first layer makes of x. Each short convolution shifts by a position:
/// -1 of its own place takes away what is added, and 1 of the place before is left.
torch::Tensor shifted_inside(const TransformerOptions& options, const torch::Tensor& x) {
  Layer layer(stack_of(options, Side::decoder), 0);
  initialize(*layer, 1);
  const torch::NoGradGuard no_grad;
  for (auto& item : layer->named_parameters()) {
    if (item.key().find("canon") == std::string::npos) continue;
    item.value().zero_();
    item.value()[0].fill_(-1);
    item.value()[1].fill_(1);
  }
  return layer->forward(x, {.position = {}}, {}).output - x;
}

TEST(Canon, AtEveryPlaceChangesItsSubLayerAlone) {
  torch::manual_seed(1);
  const auto x = torch::randn({2, 5, 16});
  const auto later = torch::constant_pad_nd(x.slice(1, 0, -1), {0, 0, 1, 0});
  for (const auto& [place, letter] : names(CanonPlace{})) {
    auto options = one_sub_layer(place);
    const auto expected = shifted_inside(options, later);
    options.layer.canon.places = {place};
    EXPECT_LT(largest_difference(shifted_inside(options, x), expected), 1e-5) << letter;
    EXPECT_GT(expected.abs().max().item<double>(), 0.1) << letter;
  }
}

std::map<std::string, std::vector<int64_t>> canon_shapes(const TransformerOptions& options) {
  std::map<std::string, std::vector<int64_t>> shapes;
  Layer layer(stack_of(options, Side::decoder), 0);
  for (const auto& item : layer->named_parameters())
    if (item.key().find("canon") != std::string::npos)
      shapes[item.key()] = item.value().sizes().vec();
  return shapes;
}

TEST(Canon, HasAWeightForEveryChannelAndPositionOfItsWindow) {
  const auto options = tiny(
      "attention: {heads: 4, d_k: 3, d_v: 5, key_value_heads: 2}, feed_forward.gated: true, canon: "
      "{places: [a, b, c, d], width: 3}");
  EXPECT_EQ(canon_shapes(options), (std::map<std::string, std::vector<int64_t>>{
                                       {"canon_attention.weight", {3, 16}},
                                       {"attention.canon.weight", {3, 12 + 6 + 10}},
                                       {"canon_feed_forward.weight", {3, 16}},
                                       {"feed_forward.canon.weight", {3, 48}}}));
}

TEST(Canon, InsideAFeedForwardIsSharedWithItByTheLayersThatHaveIt) {
  const auto feed_forwards = [](const std::vector<size_t>& layers, CanonPlace place) {
    auto options = tiny("family: encoder_only, layers: 4, feed_forward.shared: true");
    for (const auto layer : layers)
      own_layers(options, Side::encoder).at(layer - 1).canon.places = {place};
    int64_t count = 0;
    for (const auto& item : make(options)->named_parameters())
      count += item.key().ends_with("feed_forward.up.weight") ? 1 : 0;
    return count;
  };
  EXPECT_EQ(feed_forwards({2}, CanonPlace::feed_forward), 1);
  EXPECT_EQ(feed_forwards({2, 3}, CanonPlace::hidden), 2);
}

TEST(Canon, OfTheHiddenLayerStandsBeforeTheActivation) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  auto options = tiny("canon.places: [d]");
  const auto stack = stack_of(options, Side::encoder);
  auto made = initialized(make_feed_forward(stack.layers.front(), stack));
  const auto weights = made->named_parameters();
  const auto x = torch::randn({2, 5, 16});
  const auto products =
      torch::constant_pad_nd(torch::linear(x, weights["up.weight"]), {0, 0, 3, 0});
  const auto hidden =
      ops::short_convolution(products, weights["canon.weight"], /*adds_input=*/true);
  EXPECT_LT(largest_difference(made->forward(x, {}).output,
                               torch::linear(hidden.relu(), weights["down.weight"])),
            1e-5);
}

TEST(Canon, TellsADecoderWithoutPositionsTheOrderOfItsLastTokens) {
  const torch::NoGradGuard no_grad;
  auto options = tiny("family: decoder_only, layers: 1, position: none");
  const auto change = [](const TransformerOptions& o) {
    auto model = make(o);
    const auto one = model->forward({}, ids({{1, 8, 9, 10}}));
    return largest_difference(one.select(1, 3),
                              model->forward({}, ids({{1, 9, 8, 10}})).select(1, 3));
  };
  EXPECT_LT(change(options), 1e-5);
  options.layer.canon.places = {CanonPlace::attention};
  EXPECT_GT(change(options), 1e-2);
}

}  // namespace
}  // namespace ablate::models
