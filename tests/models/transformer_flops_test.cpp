#include "models/transformer_flops.h"

#include <gtest/gtest.h>

#include "tests/models/flops.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

constexpr Vocabulary kTwenty{20, 20, 0};
constexpr int64_t kLength = 7;

double flops(const TransformerOptions& options) {
  return forward_flops(options, kTwenty, {1, kLength, kLength});
}

int64_t parameters(const TransformerOptions& options) {
  return parameter_count(*Transformer(options, kTwenty));
}

TEST(Flops, OfSharedLayersHasTheirWeightsOnceAndTheirProductsEachTime) {
  const auto apart = tiny("layers: 4");
  for (const auto order : {ShareOrder::cycle, ShareOrder::sequence}) {
    auto shared = apart;
    shared.share = {.layers = 3, .order = order};
    EXPECT_EQ(flops(shared), flops(apart));
    auto three = apart;
    three.layers = 3;
    EXPECT_EQ(parameters(shared), parameters(three));
  }
}

TEST(Flops, OfASharedFeedForwardHasItsWeightsOnceAndItsProductsInEveryLayer) {
  const auto apart = tiny("layers: 4"), shared = tiny("layers: 4, feed_forward.shared: true");
  EXPECT_EQ(flops(shared), flops(apart));
  EXPECT_EQ(parameters(apart) - parameters(shared), 2 * 3 * (2 * 16 * 24 + 24 + 16));
}

TEST(Flops, OfTwoMixersInEqualSharesLiesInTheMiddle) {
  const auto attends = tiny("layers: 4"),
             mixed = tiny("layers: 4, changes: [{at: [2, 4], attention: convolution}]"),
             convolves = tiny(
                 "layers: 4, attention: convolution, cross_attention: {kind: "
                 "multi_head, heads: 2}");
  EXPECT_EQ(2 * flops(mixed), flops(attends) + flops(convolves));
  EXPECT_NE(flops(attends), flops(convolves));
  EXPECT_EQ(2 * parameters(mixed), parameters(attends) + parameters(convolves));
}

TEST(Flops, OfShortConvolutionsAreAMultiplicationForEachWeightAndPosition) {
  const std::string keys = "layers: 4, family: decoder_only";
  const auto plain = tiny(keys), canon = tiny(keys, "canon.places: [a, b, c, d]");
  constexpr int64_t kWeights = 4 * 4 * (16 + 3 * 16 + 16 + 24);  // four wide, in four layers
  EXPECT_EQ(parameters(canon) - parameters(plain), kWeights);
  EXPECT_EQ(flops(canon) - flops(plain), 2 * kLength * kWeights);
}

TEST(Flops, OfHeadsWithOptionsHaveTheirMapsGatesAndFactors) {
  const std::string keys = "layers: 4, family: decoder_only, position: none";
  const auto plain = tiny(keys), differential = tiny(keys, "attention.differential: true"),
             forgetting = tiny(keys, "attention.forgetting: true"),
             embedded = tiny(keys, "attention.value_embedding: true");
  // Second queries and factors of two heads, and second maps of keys and values of 8.
  constexpr double kSecond = kLength * 16 * (16 + 2) + kLength * kLength * 2 * (8 + 8);
  EXPECT_EQ(flops(differential) - flops(plain), 2 * 4 * kSecond);
  constexpr double kGates = kLength * 16 * 2 + kLength * kLength * 2 * 4;  // longer by 4
  EXPECT_EQ(flops(forgetting) - flops(plain), 2 * 4 * kGates);
  EXPECT_EQ(flops(embedded) - flops(plain), 2 * 4 * kLength * 16 * 2);
}

TEST(Flops, OfAWindowHasTheKeysThatAQuerySees) {
  const std::string keys = "layers: 4, family: decoder_only";
  auto decoder = tiny(keys), narrow = tiny(keys, "attention.window: 3");
  const auto wide = tiny(keys, "attention.window: 100");
  constexpr double kOneKey = 2 * 4 * kLength * (16 + 16);  // of all queries in four layers
  EXPECT_EQ(flops(decoder) - flops(narrow), (7 - 3) * kOneKey);
  EXPECT_EQ(flops(wide), flops(decoder));
  decoder.family = narrow.family = Family::encoder_only;
  EXPECT_EQ(flops(decoder) - flops(narrow), (7 - 5) * kOneKey) << "two on either side";
}

// In chunks of 128 positions, in 4 heads of 4.
TEST(Flops, OfADeltaRuleGrowWithTheLengthInChunks) {
  auto options = tiny("layers: 1, family: decoder_only, feed_forward: none");
  options.layer.attention = DeltaRule{{.heads = 4, .decay = Forgetting::gated}};
  const auto products = [&](double length, double pairs, double writes) {
    return length * 16 * (4 * 16 + 2 * 4) + 3.5 * pairs * 16 + (2 * length + writes) * 16 * 4 +
           length * 16 * 20;
  };
  const auto found = [&](int64_t length) {
    return forward_flops(options, kTwenty, {1, length, length}) / 2;
  };
  EXPECT_EQ(found(128), products(128, 128 * 128, 0));
  EXPECT_EQ(found(300), products(300, 2 * 128 * 128 + 44 * 44, 256));
  options.layer.attention = DeltaRule{{.heads = 4, .decay = Forgetting::gated}, 2, true, true};
  // Values twice as wide, and their gate.
  EXPECT_EQ(found(5), 5 * 16 * ((2 + 2 + 2 + 2) * 16 + 2 * 4) + (2 + 2 + 1) * 25 * 16 +
                          2 * 5 * 2 * 16 * 4 + 5 * 16 * 20);
}

TEST(Flops, OfMamba2AreThoseOfItsProjectionsItsConvolutionAndItsState) {
  auto options = tiny(
      "layers: 1, family: decoder_only, feed_forward: none, position: none, attention: {kind: "
      "mamba2, heads: 4, state_size: 6}");
  const auto products = [&](double length, double pairs, double writes) {
    return length * 16 * (2 * 32 + 2 * 6 + 4 + 32) + length * 4 * (32 + 2 * 6) + pairs * (6 + 32) +
           (length + writes) * 6 * 32 + length * 16 * 20;
  };
  const auto found = [&](int64_t length) {
    return forward_flops(options, kTwenty, {1, length, length}) / 2;
  };
  EXPECT_EQ(found(5), products(5, 25, 0));
  EXPECT_EQ(found(300), products(300, 2 * 128 * 128 + 44 * 44, 256));
}

TEST(Flops, OfLatentAttentionAreThoseOfItsLowRanks) {
  auto options = tiny("layers: 1, family: decoder_only, feed_forward: none, position: rotary");
  const auto found = [&](const Latent& latent) {
    options.layer.attention = latent;
    return forward_flops(options, kTwenty, {1, 5, 5}) / 2 - 5 * 16 * 20;
  };
  const double rest = 5 * (16 * (8 + 2) + 8 * 4 * (4 + 4) + 16 * 16) + 4 * 5 * 5 * (4 + 2 + 4);
  EXPECT_EQ(found({.heads = 4}), 5 * 16 * 4 * (4 + 2) + rest);
  EXPECT_EQ(found({.heads = 4, .query_rank = 3}), 5 * 3 * (16 + 4 * (4 + 2)) + rest);
}

// Whose two layers cost 12 D^2 + 4 D F multiplications a position in weights, and 2 D for every
// key.
TEST(Flops, AreTwiceTheMultiplicationsOfEveryPosition) {
  auto options = tiny("layers: 2");
  const double layers = 3 * 5 * (2 * (4 * 16 * 16 + 2 * 16 * 24) + 2 * 2 * 16 * 5);
  options.family = Family::decoder_only;
  EXPECT_EQ(forward_flops(options, kTwenty, {3, 0, 5}), 2 * (layers + 3 * 5 * 16 * 20));
  options.family = Family::encoder_only;
  EXPECT_EQ(forward_flops(options, kTwenty, {3, 5, 5}), 2 * (layers + 3 * 5 * 16 * 20));
  options.output = LabelHead{};
  options.tying = Tying::none;
  EXPECT_EQ(forward_flops(options, {20, 4, 0}, {3, 5, 1}), 2 * (layers + 3 * 16 * 4));
}

TEST(Flops, OfCrossAttentionAreThoseOfItsOwnSides) {
  const auto with = tiny("layers: 1"), without = tiny("layers: 1, cross_attention: none");
  const auto cross = [&](int64_t source, int64_t target) {
    const PassExtent extent{.rows = 1, .source = source, .target = target};
    return forward_flops(with, kTwenty, extent) - forward_flops(without, kTwenty, extent);
  };
  EXPECT_EQ(cross(9, 5), 2 * 16 * 16 * (2 * 5 + 2 * 9) + 2 * 2 * 16 * 5 * 9);
}

TEST(Flops, OfANoisyRouterAreThoseOfScoresAndInTrainingOfTheSizesOfNoise) {
  const auto plain = tiny("layers: 4, feed_forward: {kind: moe, experts: 6, router: hash}"),
             noisy = tiny("layers: 4, feed_forward: {kind: moe, experts: 6, router: noisy}");
  constexpr double kScores = 2 * 2 * 4 * kLength * 6 * 16;  // both stacks of four layers
  EXPECT_EQ(flops(noisy) - flops(plain), kScores);
  const auto training = [](const TransformerOptions& options) {
    return PassFlops(*Transformer(options, kTwenty)).training({1, kLength, kLength});
  };
  EXPECT_EQ(training(noisy) - training(plain), 3 * 2 * kScores);
}

TEST(Flops, OfTransformerXlProjectDistancesOnceForABatch) {
  const std::string keys = "layers: 1, family: decoder_only";
  const auto sinusoidal = tiny(keys), relative = tiny(keys, "position: transformer_xl");
  const auto more = [&](int64_t rows) {
    return forward_flops(relative, kTwenty, {rows, 0, 5}) -
           forward_flops(sinusoidal, kTwenty, {rows, 0, 5});
  };
  constexpr double kDistances = 9;  // -4 ... 4
  EXPECT_EQ(more(1), 2 * kDistances * 16 * (16 + 5));
  EXPECT_EQ(more(3), 2 * kDistances * 16 * (16 + 3 * 5));
}

// Distances of pairs, or, where there are fewer, all that the range has.
TEST(Flops, OfRandomPositionIdsHaveNoMoreDistancesThanTheirRange) {
  auto options = tiny(
      "layers: 1, family: decoder_only, position: transformer_xl, position_ids: {kind: randomized, "
      "range: 10, longest: 9}");
  const auto at = [&](int64_t length) {
    auto plain = options;
    plain.layer.position = NoPosition{};
    const double more = forward_flops(options, kTwenty, {1, 0, length}) -
                        forward_flops(plain, kTwenty, {1, 0, length});
    return more / static_cast<double>(2 * 16 * (16 + length));
  };
  EXPECT_EQ(at(3), 3 * 3);
  EXPECT_EQ(at(9), 19);
  const Transformer model(options, kTwenty);
  EXPECT_THROW(PassFlops(*model).forward({1, 0, 10}), LengthError) << "of evaluation";
  EXPECT_GT(PassFlops(*model).forward_in_training({1, 0, 10}), 0);
}

}  // namespace
}  // namespace ablate::models
