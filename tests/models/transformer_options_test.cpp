#include "models/options/transformer_options.h"

#include <gtest/gtest.h>

#include "tests/models/variants.h"

namespace ablate::models {
namespace {

TEST(StackOf, TheSideThatIsNamedDecidesWhateverItsOptionsAre) {
  auto options = tiny("decoder_layers: 3");
  const auto encoder = stack_of(options, Side::encoder), decoder = stack_of(options, Side::decoder);
  EXPECT_FALSE(encoder.causal);
  EXPECT_TRUE(std::holds_alternative<NoAttention>(encoder.layers[0].cross_attention));
  EXPECT_EQ(encoder.depth, 2);
  EXPECT_TRUE(decoder.causal);
  EXPECT_TRUE(std::holds_alternative<MultiHead>(decoder.layers[0].cross_attention));
  EXPECT_EQ(decoder.depth, 3);
}

TEST(StackOf, AListStandsForTheLayersOfItsSide) {
  auto options = tiny();
  change_layers(options, Side::encoder, [](auto& layer) {
    layer.position = Alibi{};
    layer.norm.placement = NormPlacement::pre;
  });
  const auto encoder = stack_of(options, Side::encoder), decoder = stack_of(options, Side::decoder);
  EXPECT_TRUE(std::holds_alternative<Alibi>(encoder.layers[1].position));
  EXPECT_TRUE(std::holds_alternative<Sinusoidal>(decoder.layers[1].position));
  EXPECT_EQ(encoder.layers[0].norm.placement, NormPlacement::pre);
  EXPECT_EQ(decoder.layers[0].norm.placement, NormPlacement::post);
}

TEST(StackOf, AListMustHaveEveryLayer) {
  auto options = tiny();
  own_layers(options, Side::decoder);
  options.layers = 3;
  EXPECT_NO_THROW(stack_of(options, Side::encoder));
  EXPECT_THROW(stack_of(options, Side::decoder), std::invalid_argument);
}

TEST(StackOf, CrossAttentionThatIsTheSameIsTheModels) {
  auto options = tiny("attention: {heads: 4, window: 3}");
  own_layers(options, Side::decoder)[1].attention = Lstm{};
  const auto stack = stack_of(options, Side::decoder);
  for (const auto& layer : stack.layers) {
    const auto& cross = std::get<MultiHead>(layer.cross_attention);
    EXPECT_EQ(cross.heads, 4);
    EXPECT_FALSE(cross.window);
  }
}

TEST(HasSide, AFamilyHasTheStacksInItsName) {
  EXPECT_TRUE(has_side(Family::encoder_decoder, Side::encoder));
  EXPECT_TRUE(has_side(Family::encoder_decoder, Side::decoder));
  EXPECT_TRUE(has_side(Family::encoder_only, Side::encoder));
  EXPECT_FALSE(has_side(Family::encoder_only, Side::decoder));
  EXPECT_FALSE(has_side(Family::decoder_only, Side::encoder));
  EXPECT_TRUE(has_side(Family::decoder_only, Side::decoder));
}

}  // namespace
}  // namespace ablate::models
