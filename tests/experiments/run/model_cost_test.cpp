#include "experiments/run/model_cost.h"

#include <gtest/gtest.h>

#include <sstream>

#include "experiments/run/module_tree.h"
#include "tests/models/flops.h"
#include "tests/models/variants.h"
#include "tests/says.h"

namespace ablate::run {
namespace {

constexpr models::Vocabulary kVocabulary{20, 20, 0};

TEST(ModelCost, OfATokenIsThatOfAllPassesOverThePredictedOnes) {
  auto options = models::tiny("layers: 4, family: decoder_only");
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

TEST(ModuleTree, ShowsEveryKindOfLayerOnceWithItsLayers) {
  auto options = models::tiny("layers: 4, family: decoder_only");
  auto& layers = own_layers(options, models::Side::decoder);
  layers[1].attention = layers[3].attention = models::Convolution{};
  std::get<models::MultiHead>(layers[2].attention).window = 8;
  const auto tree = module_tree(*models::Transformer(options, kVocabulary));
  std::vector<std::string> kinds;
  std::istringstream lines(tree);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("      layer")) kinds.push_back(line.substr(6));
  ASSERT_EQ(kinds.size(), 3U) << tree;
  EXPECT_TRUE(kinds[0].starts_with("layer 1 ")) << tree;
  EXPECT_TRUE(kinds[1].starts_with("layers 2, 4 ")) << tree;
  EXPECT_TRUE(kinds[1].ends_with("attention: {kind: convolution, width: 3}")) << tree;
  EXPECT_TRUE(kinds[2].starts_with("layer 3 ")) << tree;
  EXPECT_TRUE(kinds[2].ends_with("attention: {window: 8}")) << tree;
}

TEST(ModuleTree, SaysOfEqualLayersThatItShowsEach) {
  const auto tree = module_tree(*models::Transformer(models::tiny("layers: 4"), kVocabulary));
  EXPECT_TRUE(says(tree, "      each "));
  EXPECT_FALSE(says(tree, "      layer"));
}

}  // namespace
}  // namespace ablate::run
