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
