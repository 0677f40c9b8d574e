#include "experiments/run/model_cost.h"

#include <gtest/gtest.h>

namespace ablate::run {
namespace {

constexpr models::Vocabulary kVocabulary{20, 20, 0};

models::TransformerOptions four_layers() {
  return {.d_model = 16,
          .layers = 4,
          .attention = models::MultiHead{.heads = 2},
          .feed_forward = models::DenseFeedForward{.d_hidden = 24}};
}

TEST(ModelCost, OfATokenIsThatOfAllPassesOverThePredictedOnes) {
  auto options = four_layers();
  options.family = models::Family::decoder_only;
  const models::Transformer model(options, kVocabulary);
  const auto of = [&](int64_t rows, int64_t target) {
    return models::forward_flops(options, kVocabulary, {rows, 0, target});
  };
  const std::vector<data::EncodedExample> examples{
      {.source = {}, .target = {5, 6, 7, 8, 2}, .prompt_length = 3},
      {.source = {}, .target = {6, 5, 7, 8, 2}, .prompt_length = 3},
      {.source = {}, .target = {5, 6, 7, 2}, .prompt_length = 1}};
  const auto passes = scoring_passes({examples, {.tokens_per_batch = 10}});
  EXPECT_DOUBLE_EQ(flops_per_token(*model, passes), (of(2, 5) + of(1, 5)) / (3 + 2 + 2));
}

TEST(ModuleTree, ShowsEveryKindOfLayerOnce) {
  auto options = four_layers();
  options.family = models::Family::decoder_only;
  options.other_attention = models::Convolution{};
  options.pattern = {models::MixerChoice::attention, models::MixerChoice::other};
  const auto tree = module_tree(*models::Transformer(options, kVocabulary));
  size_t layers = 0;
  for (auto at = tree.find("each"); at != tree.npos; at = tree.find("each", at + 1)) ++layers;
  EXPECT_EQ(layers, 2);
}

}  // namespace
}  // namespace ablate::run
