#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/models/flops.h"
#include "tests/models/variants.h"
#include "training/trained_parts.h"

namespace ablate::training {
namespace {

using models::Family;

constexpr models::Vocabulary kTwentyTokens{20, 20, 0};
constexpr models::PassExtent kExtent{.rows = 3, .source = 5, .target = 7};

models::TransformerOptions two_layers(Family family) {
  auto options = models::tiny();
  options.family = family;
  return options;
}

double flops(const models::TransformerOptions& options, const std::vector<std::string>& frozen) {
  models::Transformer model(options, kTwentyTokens);
  choose_parts(*model, {.freeze = frozen}, 1);
  return models::PassFlops(*model).training(kExtent);
}

/// Whether products of this variant have an operand without a gradient: sines of distances, or what
/// is known before the first position.
bool has_constants(const std::string& variant) {
  return std::ranges::any_of(
      std::array{"transformer_xl", "sinks beside content", "lstm", "linear attention", "retention",
                 "delta", "mamba2"},
      [&](const char* words) { return variant.find(words) != std::string::npos; });
}

TEST(TrainingFlops, AreThreeForwardPassesIfEverythingIsTrained) {
  for (const auto& [name, options] : models::variants()) {
    const auto pass = [&](const models::TransformerOptions& o) {
      return models::forward_flops(o, kTwentyTokens, kExtent);
    };
    const double mean = (pass(options) + pass(models::with_fewest_layers(options))) / 2;
    const double found =
        models::PassFlops(*models::Transformer(options, kTwentyTokens)).training(kExtent);
    if (has_constants(name)) {
      EXPECT_LT(found, 3 * mean) << name;
      EXPECT_GT(found, 2.8 * mean) << name;
    } else {
      EXPECT_EQ(found, 3 * mean) << name;
    }
  }
}

TEST(TrainingFlops, OfConstantsAreWithoutTheirGradients) {
  auto options = two_layers(Family::decoder_only);
  options.layer.position = models::TransformerXl{};
  const double forward = models::forward_flops(options, kTwentyTokens, kExtent);
  constexpr double kDistances = 13;  // -6 ... 6, whose sines both layers project
  EXPECT_EQ(3 * forward - flops(options, {}), 2 * 2 * kDistances * 16 * 16);
}

TEST(TrainingFlops, OfDrawnRoundsAreThoseOfTheMeanNumber) {
  auto options = two_layers(Family::decoder_only);
  options.layers = 6;
  options.share.layers = 2;
  const auto flops_of = [&](int64_t layers) {
    auto fixed = options;
    fixed.layers = layers;
    return flops(fixed, {});
  };
  auto drawn = options;
  drawn.share.fewest = 2;
  EXPECT_DOUBLE_EQ(flops(drawn, {}), (flops_of(2) + flops_of(4) + flops_of(6)) / 3);
}

// Of the decoder's layers each position takes 4 D^2 + 2 D F multiplications with weights and 2 D T
// with keys and values.
constexpr double kPositions = 3 * 7, kProjections = 4 * 16 * 16, kScores = 2 * 16 * 7,
                 kWeights = kProjections + 2 * 16 * 24, kLayer = kPositions * (kWeights + kScores),
                 kOutput = kPositions * 16 * 20;

TEST(TrainingFlops, OfFrozenLeadingLayersAreThoseOfAForwardPass) {
  const auto options = two_layers(Family::decoder_only);
  EXPECT_EQ(flops(options, {"embedding", "decoder.layers.0"}),
            2 * (kLayer + 3 * kLayer - kPositions * 3 * 16 * 16 + 2 * kOutput))
      << "without a gradient of what the second layer projects";
  EXPECT_EQ(flops(options, {"embedding", "layers.0-1.attention", "layers.0-1.feed_forward"}),
            2 * (3 * (2 * kLayer) - kPositions * (2 * kWeights + kProjections + 2 * kScores) +
                 2 * kOutput))
      << "norms are trained, to which the gradient goes through all but the first attention";
}

TEST(TrainingFlops, OfFrozenLayersAboveTrainedOnesAreWithoutTheGradientsOfTheirWeights) {
  const auto options = two_layers(Family::decoder_only);
  EXPECT_EQ(flops(options, {"decoder.layers.1"}),
            2 * (3 * (2 * kLayer + kOutput) - kPositions * kWeights));
}

TEST(TrainingFlops, OfAnEncoderThatIsFrozenAreThoseOfAForwardPass) {
  auto options = two_layers(Family::encoder_decoder);
  options.tying = models::Tying::target;
  const double encoder = 2 * 3 * 5 * (kWeights + 2 * 16 * 5), memory = 2 * 3 * 5 * 2 * 16 * 16;
  const double whole = models::forward_flops(options, kTwentyTokens, kExtent) / 2;
  EXPECT_EQ(flops(options, {"encoder", "source_embedding"}), 2 * (3 * whole - 2 * encoder - memory))
      << "nor has the memory a gradient";
}

TEST(TrainingFlops, OfAFrozenLayerThatReadsATrainedEncoderHaveTheGradientsOfItsInputs) {
  auto options = two_layers(Family::encoder_decoder);
  options.tying = models::Tying::none;
  const double whole = models::forward_flops(options, kTwentyTokens, kExtent) / 2;
  const double frozen = kPositions * (kWeights + 2 * 16 * 16) + 3 * 5 * 2 * 16 * 16;
  // Before the memory is read: the first attention, and the queries, whose scores need only those
  // of keys.
  const double before = kPositions * (kProjections + 2 * kScores + 16 * 16 + 16 * 5);
  EXPECT_EQ(flops(options, {"target_embedding", "decoder.layers.0"}),
            2 * (3 * whole - frozen - before));
}

TEST(TrainingFlops, OfFrozenExpertsAreThoseThatARouterChooses) {
  auto options = two_layers(Family::decoder_only);
  options.layers = 1;
  options.layer.feed_forward = models::MixtureOptions{.experts = 6, .active = 2, .d_hidden = 24};
  EXPECT_EQ(flops(options, {}) - flops(options, {"up", "down"}),
            2 * kPositions * (2 * 2 * 16 * 24));
}

TEST(TrainingFlops, OfASharedLayerCountEachTimeThatItRuns) {
  auto options = two_layers(Family::decoder_only);
  options.share = {.layers = 1};
  EXPECT_EQ(flops(options, {}) - flops(options, {"qkv"}), 2 * 2 * kPositions * 3 * 16 * 16);
  options.share = {};
  options.layer.feed_forward = models::DenseFeedForward{.d_hidden = 24, .shared = true};
  EXPECT_EQ(flops(options, {}) - flops(options, {"up"}), 2 * 2 * kPositions * 16 * 24);
}

}  // namespace
}  // namespace ablate::training
