#include "experiments/config/study/match.h"

#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

const std::string kArms =
    kBase +
    "  model: {d_model: 64, layers: 2, feed_forward: {d_hidden: 300}}\n"
    "arms: {plain: {}, gated: {model.feed_forward.gated: true}, deep: {model.layers: 3}}\n"
    "compare: {baseline: plain, metric: bleu}\n";
const std::string kMatch = "match: {parameters: baseline, by: model.feed_forward.d_hidden}\n";

int64_t hidden_of(const Study& study, const std::string& task, const std::string& arm) {
  const auto* found = configuration_of(study.configurations, task, arm);
  return std::get<models::DenseFeedForward>(found->experiment.model.layer.feed_forward).d_hidden;
}

TEST(Match, GivesEveryArmTheBaselinesParameters) {
  const auto study = study_of(kArms + kMatch, {.count = parameters_of});
  EXPECT_EQ(hidden_of(study, "copy", "plain"), 300);
  EXPECT_EQ(hidden_of(study, "copy", "gated"), 200);  // 2 * 300 = 3 * 200
  EXPECT_EQ(hidden_of(study, "copy", "deep"), 200);   // 2 * 2 * 300 = 3 * 2 * 200
  const auto& origins = study.runs[1].origins;
  EXPECT_EQ(origins.at("model.feed_forward.d_hidden"), "match");
}

TEST(Match, CountsWithTheVocabularyThatAKeyDeclares) {
  const auto declared = [](const std::string& base) {
    const auto study = study_of(kBase + base);
    return declared_vocabulary(study.runs.front().experiment);
  };
  EXPECT_EQ(declared("  tokenizer: {kind: unigram, vocabulary: 2000}\n")->tokens, 2000);
  EXPECT_EQ(declared("  tokenizer: {kind: byte}\n")->tokens, 260);
  EXPECT_EQ(declared("  tokenizer: {kind: byte, mask: true}\n")->tokens, 261);
  EXPECT_FALSE(declared("  tokenizer: {kind: word}\n")) << "the text decides";
  EXPECT_FALSE(declared("  tokenizer: {file: some.model}\n"));
}

TEST(Match, SolvesForEverySizeAndOnlyForTheArmsThatItNames) {
  const auto study = study_of(
      kArms + "sizes: {small: {model.feed_forward.d_hidden: 30}, large: {model.d_model: 128}}\n" +
          "match: {parameters: baseline, by: model.feed_forward.d_hidden, arms: [gated]}\n",
      {.count = parameters_of});
  EXPECT_EQ(hidden_of(study, "copy-small", "gated"), 20);
  EXPECT_EQ(hidden_of(study, "copy-large", "gated"), 200);
  EXPECT_EQ(hidden_of(study, "copy-small", "deep"), 30);
}

TEST(Match, TheBaselineCountsAsItWouldRunEvenIfItIsNotSelected) {
  const auto study = study_of(
      kArms + kMatch, {.sets = {"model.layers=4"}, .arms = {"gated"}, .count = parameters_of});
  EXPECT_EQ(hidden_of(study, "copy", "gated"), 200);
}

}  // namespace
}  // namespace ablate::config
