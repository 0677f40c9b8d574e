#include "models/transformer_options.h"

#include <gtest/gtest.h>

#include "tests/models/variants.h"

namespace ablate::models {
namespace {

TEST(StackOf, TheSideThatIsNamedDecidesWhateverItsOptionsAre) {
  auto options = tiny();
  options.encoder = options.decoder;
  options.decoder.layers = 3;
  const auto encoder = stack_of(options, Side::encoder), decoder = stack_of(options, Side::decoder);
  EXPECT_FALSE(encoder.causal);
  EXPECT_FALSE(encoder.cross_attention.has_value());
  EXPECT_EQ(encoder.layers, 2);
  EXPECT_TRUE(decoder.causal);
  EXPECT_TRUE(decoder.cross_attention.has_value());
  EXPECT_EQ(decoder.layers, 3);
}

TEST(StackOf, ASidesOwnChoicesLieOverTheModels) {
  auto options = tiny();
  options.encoder.position = Alibi{};
  options.encoder.norm.placement = NormPlacement::pre;
  const auto encoder = stack_of(options, Side::encoder), decoder = stack_of(options, Side::decoder);
  EXPECT_TRUE(std::holds_alternative<Alibi>(encoder.position));
  EXPECT_TRUE(std::holds_alternative<Sinusoidal>(decoder.position));
  EXPECT_EQ(encoder.norm.placement, NormPlacement::pre);
  EXPECT_EQ(decoder.norm.placement, NormPlacement::post);
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
