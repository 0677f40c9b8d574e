#include "training/inference/length_check.h"

#include <gtest/gtest.h>

#include "models/position/position.h"
#include "tests/training/inference/small_translator.h"

namespace ablate::training {
namespace {

using models::Side;

/// An example with a source and a target of so many tokens.
data::EncodedExample sides(size_t source, size_t target) {
  return {.source = std::vector<int32_t>(source, 5), .target = std::vector<int32_t>(target, 5)};
}

std::string refusal(const models::TransformerOptions& model,
                    const std::vector<data::EncodedExample>& examples) {
  try {
    check_lengths(model, "test", examples);
  } catch (const models::LengthError& error) {
    return error.what();
  }
  return "";
}

TEST(PositionLimit, IsOfLearnedTablesAndRandomizedIdsAlone) {
  models::TransformerOptions model;
  EXPECT_FALSE(position_limit(model, Side::encoder));
  model.position = models::Learned{.max_length = 7, .beyond = models::Beyond::clamp};
  EXPECT_FALSE(position_limit(model, Side::encoder));
  model.position = models::Learned{.max_length = 7};
  EXPECT_EQ(position_limit(model, Side::encoder)->tokens, 7);
  EXPECT_EQ(position_limit(model, Side::encoder)->key, "model.position.max_length");
  model.decoder.position = models::Learned{.max_length = 9};
  EXPECT_EQ(position_limit(model, Side::decoder)->tokens, 9);
  EXPECT_EQ(position_limit(model, Side::decoder)->key, "model.decoder.position.max_length");
  model.position_ids = models::Randomized{.range = 20, .longest = 8};
  EXPECT_EQ(position_limit(model, Side::encoder)->tokens, 7);
  EXPECT_EQ(position_limit(model, Side::decoder)->key, "model.position_ids.longest");
}

TEST(CheckLengths, NamesHowManyAreTooLongAndTheKey) {
  const models::TransformerOptions model{.position = models::Learned{.max_length = 4}};
  EXPECT_EQ(refusal(model, {sides(4, 4), sides(1, 1)}), "");
  EXPECT_EQ(refusal(model, {sides(4, 1), sides(5, 1), sides(6, 1)}),
            "test: 2 of 3 sources are longer than the 4 positions that the model has for them (the "
            "first is number 2, of 5 tokens), and no score is of a part of a test set; raise "
            "model.position.max_length to 6 and train again, or leave them out");
  EXPECT_NE(refusal(model, {sides(1, 5)}).find("1 of 1 targets are longer"), std::string::npos);
}

TEST(CheckLengths, OfADecoderAloneAreThoseOfSourceAndTargetTogether) {
  const models::TransformerOptions model{.family = models::Family::decoder_only,
                                         .position = models::Learned{.max_length = 4}};
  EXPECT_EQ(refusal(model, {sides(0, 4)}), "");
  EXPECT_NE(refusal(model, {sides(0, 5)}).find("1 of 1 sequences"), std::string::npos);
}

TEST(CheckLine, NamesTheLine) {
  const models::TransformerOptions model{.position = models::Learned{.max_length = 4}};
  check_line(model, 3, 4);
  EXPECT_THROW(check_line(model, 3, 5), models::LengthError);
}

}  // namespace
}  // namespace ablate::training
