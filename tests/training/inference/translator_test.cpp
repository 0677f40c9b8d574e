#include "training/inference/translator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tests/training/inference/small_translator.h"
#include "training/inference/score_targets.h"

namespace ablate::training {
namespace {

using models::Family;

const std::vector<std::string> kLines{"a", "a b c d", "", "b c", "d c b a d", "c"};
const models::SearchOptions kShort{.beam = 2, .max_length = 8};

void expect_same_texts(const std::vector<Translation>& a, const std::vector<Translation>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].text, b[i].text);
    EXPECT_NEAR(a[i].score, b[i].score, 1e-5);
  }
}

TEST(Translator, GivesEveryLineItsOutputWhateverTheBatchAndTheJobs) {
  for (const auto family : {Family::encoder_decoder, Family::decoder_only}) {
    const auto translator = small_translator(3, family);
    std::vector<Translation> alone;
    for (const auto& line : kLines)
      alone.push_back(translate(translator, std::vector{line}, kShort).front());
    for (const int64_t batch : {1, 2, 64}) {
      auto options = kShort;
      options.batch = batch;
      expect_same_texts(translate(translator, kLines, options), alone);
      std::vector<Translation> side_by_side;
      for (const auto& found :
           translate_all({&translator, 1}, {.lines = kLines, .jobs = 3}, options))
        side_by_side.push_back(found.front());
      expect_same_texts(side_by_side, alone);
    }
  }
}

/// Models whose feed-forwards are experts, with every router and, where it can be, a limit on an
/// expert's work in training and in evaluation.
std::vector<Translator> with_experts() {
  using namespace models;
  const auto experts = [](RouterOptions router, CapacityOptions capacity) {
    const bool one = std::holds_alternative<SwitchRouter>(router);
    return MixtureOptions{.experts = 3,
                          .active = one ? 1 : 2,
                          .d_hidden = 16,
                          .router = std::move(router),
                          .capacity = capacity};
  };
  const auto tight = [](std::optional<double> evaluation) {
    return LimitedCapacity{.factor = 0.1, .evaluation = evaluation};
  };
  std::vector<Translator> all;
  for (const RouterOptions& router :
       {RouterOptions(SoftmaxRouter{}), RouterOptions(SwitchRouter{}), RouterOptions(NoisyRouter{}),
        RouterOptions(GshardRouter{}), RouterOptions(SigmoidRouter{}), RouterOptions(HashRouter{})})
    all.push_back(small_translator(3, Family::encoder_decoder, [&](TransformerOptions& o) {
      for (auto& layer : own_layers(o, Side::encoder))
        layer.feed_forward = experts(router, tight(0.4));
      for (auto& layer : own_layers(o, Side::decoder))
        layer.feed_forward = experts(router, tight(1.2));
    }));
  all.push_back(small_translator(3, Family::encoder_decoder, [&](TransformerOptions& o) {
    for (auto& layer : own_layers(o, Side::encoder))
      layer.feed_forward = experts(ExpertChoiceRouter{}, Dropless{});
  }));
  return all;
}

TEST(Translator, WithAnyRouterALineIsTranslatedAndScoredAsIfItWereAlone) {
  for (const auto& translator : with_experts()) {
    auto options = kShort;
    options.batch = 1;
    const auto alone = translate(translator, kLines, options);
    options.batch = 64;
    expect_same_texts(translate(translator, kLines, options), alone);
    std::vector<data::Example> pairs;
    for (const auto& line : kLines) pairs.push_back({line.empty() ? "a" : line, "b c a d"});
    const auto together = score_targets(translator, pairs, 64);
    for (size_t i = 0; i < pairs.size(); ++i)
      EXPECT_NEAR(*score_targets(translator, {&pairs[i], 1}, 64)[0], *together[i], 1e-5);
  }
}

TEST(Translator, ABlankLineGivesOneEmptyText) {
  const auto translator = small_translator(3, Family::encoder_decoder);
  const auto found = translate_all(
      {&translator, 1}, {.lines = std::vector<std::string>{"\xe3\x80\x80"}, .n_best = 4}, {});
  ASSERT_EQ(found.at(0).size(), 1U);
  EXPECT_EQ(found[0][0].text, "");
}

TEST(Translator, AnOutputIsOneLineWhateverItsTokensHold) {
  const auto bytes = tokenizer::Tokenizer::train({.kind = tokenizer::Kind::byte}, {});
  const auto model = models::make(models::tiny("layers: 1"), bytes.vocabulary_size());
  const Translator translator{
      models::InferenceModel(model), {bytes, bytes}, data::SequenceFormat(data::Copy{}, {}, 9)};
  const std::vector<std::string> lines{"a"}, prefixes{"b\r\nc"};
  const auto text =
      translate_all({&translator, 1}, {.lines = lines, .prefixes = prefixes}, kShort)[0][0].text;
  EXPECT_TRUE(text.starts_with("b  c")) << text;
  EXPECT_EQ(text.find_first_of("\r\n"), std::string::npos) << text;
}

TEST(Translator, ReadsTheWholeOfASourceWhateverTrainingCuts) {
  auto translator = small_translator(3, Family::encoder_decoder);
  const std::vector<std::string> lines{"a b c d a b c d a b c d", "a b c d a b c d"};
  const auto found = translate(translator, lines, kShort);
  translator.format = data::SequenceFormat(data::Copy{}, {}, 100);
  expect_same_texts(translate(translator, lines, kShort), found);
  EXPECT_NE(found[0].score, found[1].score) << "cut to 9 tokens they would be one";
}

TEST(Translator, SaysWhatItReadOfAPromptThatIsTooLong) {
  auto translator = small_translator(3, Family::decoder_only);
  translator.format = data::SequenceFormat(data::Language{}, {.encoder = false}, 4);
  const std::vector<std::string> prompts{"a b c d", "b c d"};
  const auto found = translate_all({&translator, 1}, {.lines = prompts}, kShort);
  EXPECT_EQ(found[0][0].read, "b c d");
  EXPECT_FALSE(found[1][0].read.has_value());
  EXPECT_EQ(found[0][0].text, found[1][0].text);
}

TEST(Translator, SaysWhichOutputsEndedByThemselves) {
  const auto translator = small_translator(3, Family::encoder_decoder);
  const std::vector<std::string> lines{"a b"};
  const auto found = translate_all({&translator, 1}, {.lines = lines, .n_best = 30},
                                   {.length_penalty = 0, .max_length = 3});
  int ended = 0;
  for (const auto& one : found[0]) {
    const auto words = std::ranges::count(one.text, ' ') + (one.text.empty() ? 0 : 1);
    const bool known = one.text.find("\u2047") == std::string::npos;
    EXPECT_TRUE(!known || one.ended == (words < 3)) << one.text;
    ended += one.ended ? 1 : 0;
  }
  EXPECT_GT(ended, 0);
}

TEST(Translator, OutputsBeginWithTheirPrefixes) {
  const auto translator = small_translator(3, Family::encoder_decoder);
  const std::vector<std::string> lines{"a", "b c"}, prefixes{"d d", "c"};
  const auto found =
      translate_all({&translator, 1}, {.lines = lines, .prefixes = prefixes}, kShort);
  for (size_t i = 0; i < lines.size(); ++i)
    EXPECT_TRUE(found[i][0].text.starts_with(prefixes[i])) << found[i][0].text;
}

TEST(Translator, ModelsThatVoteNeedTheSameTokenizersAndFamily) {
  const std::vector<Translator> mixed{small_translator(1, Family::encoder_decoder),
                                      small_translator(2, Family::decoder_only)};
  EXPECT_THROW(translate_all(mixed, {.lines = kLines}, kShort), tokenizer::TokenizerError);
}

}  // namespace
}  // namespace ablate::training
