#include "experiments/run/model_cost.h"

#include <gtest/gtest.h>

namespace ablate::run {
namespace {

models::TransformerOptions four_layers() {
  return {.d_model = 16,
          .layers = 4,
          .attention = models::MultiHead{.heads = 2},
          .feed_forward = models::DenseFeedForward{.d_hidden = 24}};
}

double flops(const models::TransformerOptions& options) {
  const models::Transformer model(options, models::Vocabulary{20, 20, 0});
  return flops_per_token(options, *model, 7);
}

int64_t parameters(const models::TransformerOptions& options) {
  return models::parameter_count(*models::Transformer(options, models::Vocabulary{20, 20, 0}));
}

TEST(ModelCost, OfSharedLayersHasTheirWeightsOnceAndTheirProductsEachTime) {
  const auto apart = four_layers();
  for (const auto order : {models::ShareOrder::cycle, models::ShareOrder::sequence}) {
    auto shared = apart;
    shared.share = {.layers = 3, .order = order};
    EXPECT_EQ(flops(shared), flops(apart));
    auto three = apart;
    three.layers = 3;
    EXPECT_EQ(parameters(shared), parameters(three));
  }
}

TEST(ModelCost, OfASharedFeedForwardHasItsWeightsOnceAndItsProductsInEveryLayer) {
  const auto apart = four_layers();
  auto shared = apart;
  shared.feed_forward = models::DenseFeedForward{.d_hidden = 24, .shared = true};
  EXPECT_EQ(flops(shared), flops(apart));
  EXPECT_EQ(parameters(apart) - parameters(shared), 2 * 3 * (2 * 16 * 24 + 24 + 16));
}

TEST(ModelCost, OfTwoMixersInEqualSharesLiesInTheMiddle) {
  const auto attends = four_layers();
  auto convolves = attends, mixed = attends;
  convolves.attention = models::Convolution{};
  convolves.cross_attention = models::MultiHead{.heads = 2};
  mixed.other_attention = models::Convolution{};
  mixed.pattern = {models::MixerChoice::attention, models::MixerChoice::other};
  EXPECT_EQ(2 * flops(mixed), flops(attends) + flops(convolves));
  EXPECT_NE(flops(attends), flops(convolves));
  EXPECT_EQ(2 * parameters(mixed), parameters(attends) + parameters(convolves));
}

TEST(ModelCost, OfAWindowHasTheKeysThatAQuerySees) {
  auto decoder = four_layers();
  decoder.family = models::Family::decoder_only;
  auto narrow = decoder, wide = decoder;
  narrow.attention = models::MultiHead{.heads = 2, .window = 3};
  wide.attention = models::MultiHead{.heads = 2, .window = 100};
  constexpr double kOneKey = 2 * 4 * (16 + 16);  // of four layers
  EXPECT_EQ(flops(decoder) - flops(narrow), (7 - 3) * kOneKey);
  EXPECT_EQ(flops(wide), flops(decoder));
  decoder.family = narrow.family = models::Family::encoder_only;
  EXPECT_EQ(flops(decoder) - flops(narrow), (7 - 5) * kOneKey) << "two on either side";
}

TEST(ModelCost, OfMixersThatKeepAMatrixHasItsReadsAndWrites) {
  auto attends = four_layers();
  attends.family = models::Family::decoder_only;
  auto linear = attends, few = attends;
  linear.attention = models::LinearAttention{{.heads = 2}};
  few.attention = models::LinearAttention{{.heads = 1}};
  EXPECT_EQ(flops(few) - flops(linear), 2 * 4 * 2 * (16 * 16 - 2 * 8 * 8));
  auto delta = linear, one = linear;
  delta.attention = models::DeltaRule{{.heads = 2}};
  one.attention = models::DeltaRule{{.heads = 1}};
  // The head's gate on what is written is a row of weights.
  EXPECT_EQ(flops(one) - flops(delta), 2 * 4 * (3 * (16 * 16 - 2 * 8 * 8) - 16));
}

TEST(ModuleTree, ShowsEveryKindOfLayerOnce) {
  auto options = four_layers();
  options.family = models::Family::decoder_only;
  options.other_attention = models::Convolution{};
  options.pattern = {models::MixerChoice::attention, models::MixerChoice::other};
  const auto tree = module_tree(*models::Transformer(options, models::Vocabulary{20, 20, 0}));
  size_t layers = 0;
  for (auto at = tree.find("each"); at != tree.npos; at = tree.find("each", at + 1)) ++layers;
  EXPECT_EQ(layers, 2);
}

}  // namespace
}  // namespace ablate::run
