#include "training/inference/length_check.h"

#include <gtest/gtest.h>

#include "models/position/position.h"
#include "tests/says.h"
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
  return refusal_of<models::LengthError>([&] { check_lengths(model, "test", examples); });
}

TEST(PositionLimit, IsOfLearnedTablesAndRandomizedIdsAlone) {
  models::TransformerOptions model;
  EXPECT_FALSE(position_limit(model, Side::encoder));
  model.layer.position = models::Learned{.max_length = 7, .beyond = models::Beyond::clamp};
  EXPECT_FALSE(position_limit(model, Side::encoder));
  model.layer.position = models::Learned{.max_length = 7};
  EXPECT_EQ(position_limit(model, Side::encoder)->tokens, 7);
  EXPECT_EQ(position_limit(model, Side::encoder)->key, "model.position.max_length");
  for (auto& layer : own_layers(model, Side::decoder))
    layer.position = models::Learned{.max_length = 9};
  EXPECT_EQ(position_limit(model, Side::decoder)->tokens, 9);
  EXPECT_EQ(position_limit(model, Side::decoder)->key, "model.decoder.position.max_length");
  model.decoder.back().position = models::Learned{.max_length = 8};
  EXPECT_EQ(position_limit(model, Side::decoder)->tokens, 8) << "of the layer with the fewest";
  EXPECT_EQ(position_limit(model, Side::decoder)->key, "position.max_length in model.changes");
  model.position_ids = models::Randomized{.range = 20, .longest = 6};
  EXPECT_EQ(position_limit(model, Side::encoder)->tokens, 6);
  EXPECT_EQ(position_limit(model, Side::decoder)->key, "model.position_ids.longest");
}

TEST(CheckLengths, NamesHowManyAreTooLongAndTheKey) {
  const models::TransformerOptions model{.layer = {.position = models::Learned{.max_length = 4}}};
  EXPECT_EQ(refusal(model, {sides(4, 4), sides(1, 1)}), "");
  EXPECT_EQ(refusal(model, {sides(4, 1), sides(5, 1), sides(6, 1)}),
            "test: 2 of 3 sources are longer than the 4 positions that the model has for them (the "
            "first is number 2, of 5 tokens), and no score is of a part of a test set; raise "
            "model.position.max_length to 6 and train again, or leave them out");
  EXPECT_TRUE(says(refusal(model, {sides(1, 5)}), "1 of 1 targets are longer"));
}

TEST(CheckLengths, OfADecoderAloneAreThoseOfSourceAndTargetTogether) {
  const models::TransformerOptions model{.family = models::Family::decoder_only,
                                         .layer = {.position = models::Learned{.max_length = 4}}};
  EXPECT_EQ(refusal(model, {sides(0, 4)}), "");
  EXPECT_TRUE(says(refusal(model, {sides(0, 5)}), "1 of 1 sequences"));
}

std::string refusal(const models::TransformerOptions& model,
                    const std::vector<data::EncodedExample>& examples,
                    const models::SearchOptions& decoding) {
  return refusal_of<models::LengthError>([&] { check_outputs(model, "test", examples, decoding); });
}

TEST(CheckOutputs, NamesHowManyMayOutgrowThePositionsAndTheKeys) {
  models::TransformerOptions model;
  models::own_layers(model, models::Side::decoder);
  for (auto& layer : model.decoder) layer.position = models::Learned{.max_length = 16};
  // Outputs have up to 10 + 2 * source tokens.
  const std::vector<data::EncodedExample> examples{sides(3, 1), sides(4, 1), sides(9, 1)};
  EXPECT_EQ(refusal(model, {examples[0]}, {.max_ratio = 2}), "");
  EXPECT_EQ(refusal(model, examples, {.max_length = 16, .max_ratio = 2}), "");
  EXPECT_EQ(refusal(model, examples, {.max_ratio = 2}),
            "test: the outputs of 2 of 3 lines may grow beyond the 16 positions that the model has "
            "for them (the first is that of line 2); lower decoding.max_length to 16, or raise "
            "model.decoder.position.max_length to 28");
  EXPECT_NE(refusal(model, {examples[0]}, {.min_length = 16, .max_ratio = 2}), "");
}

TEST(CheckOutputs, OfADecoderAloneStandBehindTheirPrompts) {
  const models::TransformerOptions model{.family = models::Family::decoder_only,
                                         .layer = {.position = models::Learned{.max_length = 20}}};
  data::EncodedExample joined = sides(0, 5);
  joined.prompt_length = 4;
  EXPECT_EQ(refusal(model, {joined}, {.max_length = 16}), "");
  EXPECT_TRUE(
      says(refusal(model, {joined}, {.max_length = 17}), "lower decoding.max_length to 16"));
}

TEST(CheckLengths, WithoutAStartTokenTheDecoderReadsOneTokenFewer) {
  const models::TransformerOptions model{.family = models::Family::decoder_only,
                                         .layer = {.position = models::Learned{.max_length = 4}}};
  auto example = sides(0, 5);
  EXPECT_NE(refusal(model, {example}), "");
  example.started = false;  // of five tokens four are read, and the last one is predicted
  EXPECT_EQ(refusal(model, {example}), "");
  example.target.push_back(5);
  EXPECT_TRUE(says(refusal(model, {example}), "of 6 tokens"));
  EXPECT_TRUE(says(refusal(model, {example}), "max_length to 5"));

  example = sides(0, 3);
  example.prompt_length = 2;
  example.started = false;
  EXPECT_EQ(refusal(model, {example}, {.max_length = 3}), "");
  EXPECT_TRUE(says(refusal(model, {example}, {.max_length = 4}), "lower decoding.max_length to 3"));
}

std::string line_refusal(const models::TransformerOptions& model, const LineLengths& line) {
  return refusal_of<models::LengthError>([&] { check_line(model, line); });
}

TEST(CheckLine, NamesTheLineThatIsTooLongOrWhoseOutputMayBe) {
  const models::TransformerOptions model{.layer = {.position = models::Learned{.max_length = 4}}};
  EXPECT_EQ(line_refusal(model, {.number = 3, .tokens = 4}), "");
  EXPECT_TRUE(says(line_refusal(model, {.number = 3, .tokens = 5}), "line 3 has 5 tokens"));
  EXPECT_EQ(line_refusal(model, {.number = 3, .tokens = 4, .output = 4}), "");
  EXPECT_EQ(line_refusal(model, {.number = 3, .tokens = 4, .output = 9}),
            "the output of line 3 may grow to 9 tokens, and the model has positions for 4; lower "
            "decoding.max_length (--max-length) to 4, or raise model.position.max_length and train "
            "again");
  EXPECT_TRUE(says(line_refusal(model, {.number = 3, .tokens = 4, .output = 9, .prefix = 8}),
                   "shorten the line or its prefix"));
}

TEST(CheckLine, OfADecoderAloneCountsTheLineBeforeItsOutput) {
  const models::TransformerOptions model{.family = models::Family::decoder_only,
                                         .layer = {.position = models::Learned{.max_length = 9}}};
  EXPECT_EQ(line_refusal(model, {.number = 1, .tokens = 4, .output = 5}), "");
  EXPECT_TRUE(
      says(line_refusal(model, {.number = 1, .tokens = 4, .output = 6}), "positions for 5"));
  EXPECT_EQ(line_refusal(model, {.number = 1, .tokens = 4, .output = 6, .started = false}), "");
  EXPECT_NE(line_refusal(model, {.number = 1, .tokens = 4, .output = 7, .started = false}), "");
}

TEST(CheckLine, IsAskedOfEveryLineThatIsTranslated) {
  const auto learned = [](models::TransformerOptions& options) {
    options.layer.position = models::Learned{.max_length = 12};
  };
  const auto short_table = small_translator(3, models::Family::encoder_decoder, learned);
  const auto any_length = small_translator(3, models::Family::encoder_decoder);
  const std::vector<std::string> lines{"a", "a b"};
  for (const auto& both : {std::vector{short_table}, std::vector{any_length, short_table}}) {
    EXPECT_EQ(translate_all(both, {.lines = lines}, {.max_length = 12}).size(), 2U);
    EXPECT_TRUE(refusal_of<models::LengthError>([&] {
                  translate_all(both, {.lines = lines}, {.max_length = 13});
                }).starts_with("the output of line 1 may grow to 13 "));
  }
}

}  // namespace
}  // namespace ablate::training
