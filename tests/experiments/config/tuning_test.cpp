#include "experiments/config/study/tuning.h"

#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

const std::string kTuned =
    "name: s\nseeds: [4, 5]\nbase: {data: {task: copy}}\n"
    "arms: {a: {}, b: {training.schedule.peak: 0.5}}\n"
    "tune: {by: shared, keys: {training.schedule.peak: [0.5, 0.25], model.dropout: [0, 0.1]}}\n";

double peak_of(const Experiment& experiment) {
  return std::visit([](const auto& schedule) { return schedule.peak; },
                    experiment.training.schedule);
}

Value number(const std::string& text) { return {.type = Value::Type::scalar, .scalar = text}; }

std::vector<Value> numbers(const std::vector<std::string>& texts) {
  std::vector<Value> values;
  for (const auto& text : texts) values.push_back(number(text));
  return values;
}

TEST(Tuning, EveryArmIsTriedWithEveryCombination) {
  const auto study = study_of(kTuned);
  EXPECT_EQ(study.runs.size(), 4U);
  EXPECT_EQ(study.arms, (std::vector<std::string>{"a", "b"}));
  ASSERT_TRUE(study.tuning);
  const auto& tuning = *study.tuning;
  EXPECT_EQ(tuning.extend, 2);
  std::string seen;
  for (const auto& arm : tuning.arms)
    for (const auto& combination : combinations(declared_axes(tuning))) {
      const auto candidate = candidate_of(arm, tuning, combination, study.file);
      ASSERT_TRUE(candidate);
      EXPECT_EQ(candidate->origins.at("training.schedule.peak"), "study.yaml:5");
      seen += fmt::format("{}:{}:{} ", candidate->name, peak_of(candidate->experiment),
                          candidate->experiment.model.dropout);
    }
  EXPECT_EQ(seen,
            "a-peak=0.5-dropout=0:0.5:0 a-peak=0.5-dropout=0.1:0.5:0.1 "
            "a-peak=0.25-dropout=0:0.25:0 a-peak=0.25-dropout=0.1:0.25:0.1 "
            "b-peak=0.5-dropout=0:0.5:0 b-peak=0.5-dropout=0.1:0.5:0.1 "
            "b-peak=0.25-dropout=0:0.25:0 b-peak=0.25-dropout=0.1:0.25:0.1 ");
}

TEST(Tuning, KeysThatEndAlikeAreNamedByMoreOfTheirPaths) {
  const auto study = study_of(kBase +
                              "tune: {by: shared, keys: {model.encoder.attention.window: [2, 4], "
                              "model.decoder.attention.window: [2], model.dropout: [0.1]}}\n");
  std::string names;
  for (const auto& key : study.tuning->keys) names += key.name + " ";
  EXPECT_EQ(names, "encoder.attention.window decoder.attention.window dropout ");
}

TEST(Tuning, OfAKeyThatTheGridOrMatchGivesIsRefused) {
  const auto problem = [](const std::string& more) {
    return messages_of(kBase + "arms: {a: {}, b: {model.layers: 3}}\n" + more +
                       "tune: {by: shared, keys: {model.feed_forward.d_hidden: [8, 16]}}\n");
  };
  EXPECT_NE(problem("grid: {model.feed_forward.d_hidden: [8, 16]}\n")
                .find("model.feed_forward.d_hidden is tuned, but the grid gives it; remove one"),
            std::string::npos);
  EXPECT_NE(problem("compare: {baseline: a, metric: loss}\n"
                    "match: {parameters: baseline, by: model.feed_forward.d_hidden}\n")
                .find("is tuned, but match gives it; remove one of the two"),
            std::string::npos);
  EXPECT_NE(problem("sizes: {small: {model.feed_forward: {d_hidden: 8}}, large: {}}\n")
                .find("is tuned, but the size 'small' gives it; remove one of the two"),
            std::string::npos);
}

TEST(Tuning, BesideMatchCannotChangeTheSize) {
  const auto problem = [](const std::string& key) {
    return messages_of(kBase +
                       "arms: {a: {}, b: {model.layers: 3}}\n"
                       "compare: {baseline: a, metric: bleu}\n"
                       "match: {parameters: baseline, by: model.feed_forward.d_hidden}\n"
                       "tune: {by: shared, keys: {" +
                       key + "}}\n");
  };
  const std::string refusal =
      "is tuned, which may change the sizes that match has made equal; vary it in the grid "
      "instead, or remove match";
  EXPECT_EQ(problem("model.d_model: [32, 64]").find("study.yaml:8:27: model.d_model " + refusal),
            0U);
  EXPECT_EQ(problem("model.dropout: [0, 0.1]").find(refusal), std::string::npos);
  EXPECT_EQ(problem("training.schedule.peak: [0.1, 0.2]").find(refusal), std::string::npos);
}

TEST(Tuning, SeedsAreTheSmallestAboveAHundredThatTheStudyDoesNotHave) {
  EXPECT_EQ(study_of(kTuned).tuning->seeds, (std::vector<int64_t>{101, 102}));
  auto text = kTuned;
  text.replace(text.find("[4, 5]"), 6, "[4, 101, 103]");
  EXPECT_EQ(study_of(text).tuning->seeds, (std::vector<int64_t>{102, 104}));
}

TEST(Tuning, SearchesOfSeedsHaveASeedEach) {
  auto text = kTuned;
  text.replace(text.find("by: shared, "), 12, "");
  EXPECT_EQ(study_of(text).tuning->seeds, (std::vector<int64_t>{104, 105}));
  EXPECT_EQ(study_of(text, {.seeds = {5}}).tuning->seeds, std::vector<int64_t>{105});
  EXPECT_EQ(study_of(text, {.seeds = {5, 6}}).tuning->seeds, (std::vector<int64_t>{105, 106}));
  auto named = text;
  named.replace(named.find("tune: {"), 7, "tune: {seeds: [7, 9], ");
  EXPECT_EQ(study_of(named, {.seeds = {5}}).tuning->seeds, std::vector<int64_t>{9});
  named.replace(named.find("[7, 9]"), 6, "[7]");
  EXPECT_EQ(
      messages_of(named),
      "study.yaml:5:15: tune.seeds has 1 and the study 2 seeds, each of which has a search of "
      "its own; leave tune.seeds out, or say by: shared for one search that all of them "
      "share");
}

TEST(Tuning, SeedsOfTheStudyChooseNoValues) {
  auto text = kTuned;
  text.replace(text.find("shared, "), 8, "shared, seeds: [5], ");
  const std::string why =
      "seed 5 would choose values and be compared, too; give tune.seeds that the study does not "
      "have, such as [101, 102]";
  EXPECT_EQ(messages_of(text), "study.yaml:5:27: " + why);
  EXPECT_EQ(messages_of(kTuned, {.seeds = {1, 101}}),
            "study.yaml:5:1: seed 101 would choose values and be compared, too; give tune.seeds "
            "that the study does not have, such as [102, 103]");
}

TEST(Tuning, AnArmWithATriedValueIsNoArmOfTheCommandLine) {
  EXPECT_EQ(messages_of(kTuned, {.arms = {"a-peak=0.25-dropout=0"}}),
            "--arms:1:1: unknown arm 'a-peak=0.25-dropout=0'; choose a or b");
}

TEST(Tuning, OnlySelectedArmsAreTuned) {
  const auto study = study_of(kTuned, {.arms = {"b"}});
  ASSERT_EQ(study.tuning->arms.size(), 1U);
  EXPECT_EQ(study.tuning->arms[0].arm, "b");
}

TEST(Tuning, MistakesAreNamed) {
  const auto tuned = [](const std::string& tune) { return kBase + "tune: " + tune + "\n"; };
  const std::string keys =
      "tune needs 'keys', dotted paths below base with the values to try; write keys: { "
      "training.schedule.peak: [1.0e-3, 3.0e-3, 1.0e-2] }";
  EXPECT_EQ(messages_of(tuned("{seeds: [7]}")), "study.yaml:5:1: " + keys);
  EXPECT_EQ(messages_of(tuned("{keys: [1]}")), "study.yaml:5:8: " + keys);
  EXPECT_EQ(
      messages_of(tuned("{keys: {training.ema: 0.9}}")),
      "study.yaml:5:29: tune.keys: 'training.ema' needs a list of values to try; write [0.9]");
  EXPECT_EQ(messages_of(tuned("{keys: {training.ema: []}}")),
            "study.yaml:5:29: tune.keys: 'training.ema' needs a list of values to try");
  EXPECT_EQ(messages_of(tuned("{keys: {training.ema: [0.9, 0.99, 0.90]}}")),
            "study.yaml:5:41: tune.keys: 'training.ema' lists 0.90 twice");
  EXPECT_EQ(messages_of(tuned("{keys: {training.emma: [0.9]}}")),
            "study.yaml:5:24: unknown key 'emma' in training; did you mean 'ema'?");
  EXPECT_EQ(messages_of(tuned("{by: shared, keys: {training.ema: [0.9]}, seeds: [7, 7]}")),
            "study.yaml:5:56: seed 7 is given twice");
  EXPECT_EQ(messages_of(tuned("{keys: {training.ema: [0.9]}, extend: -1}")),
            "study.yaml:5:45: tune.extend must be between 0 and 20");
  EXPECT_EQ(
      messages_of(tuned("{keys: {training.steps: [100, 200]}}")),
      "study.yaml:5:15: training.steps cannot be tuned: longer training would be chosen; make "
      "each value an arm, with compare: { allow: [steps] }");
  EXPECT_EQ(
      messages_of(tuned("{keys: {decoding.beam: [1, 4]}}")),
      "study.yaml:5:15: decoding.beam cannot be tuned: validation scores do not depend on it; "
      "make each value an arm");
}

TEST(Ends, AreTheSmallestAndTheLargestOfTwoNumbersOrMore) {
  const auto values = numbers({"0.002", "1.0e-3", "0.004"});
  EXPECT_EQ(end_of(values, number("0.001")), End::smallest);
  EXPECT_EQ(end_of(values, number("0.004")), End::largest);
  EXPECT_FALSE(end_of(values, number("0.002")));
  EXPECT_FALSE(end_of(numbers({"0.1"}), number("0.1")));
  EXPECT_FALSE(end_of(numbers({"relu", "gelu"}), number("relu")));
}

std::string beyond(const std::string& path, const std::vector<std::string>& values, End end) {
  const auto next = value_beyond({path, path, {}}, numbers(values), end);
  return next ? text_of(*next) : "none";
}

TEST(ValuesBeyond, ContinueTheRatioOfTheLastTwo) {
  const std::string peak = "training.schedule.peak";
  EXPECT_EQ(beyond(peak, {"1.0e-3", "3.0e-3", "1.0e-2"}, End::largest), "0.0333");
  EXPECT_EQ(beyond(peak, {"1.0e-3", "3.0e-3", "1.0e-2"}, End::smallest), "0.000333");
  EXPECT_EQ(beyond(peak, {"0.004", "0.002", "0.001"}, End::smallest), "0.0005");
  EXPECT_EQ(beyond("model.d_model", {"64", "2048", "128"}, End::largest), "32768");
  EXPECT_EQ(beyond("model.d_model", {"64", "128"}, End::smallest), "32");
}

TEST(ValuesBeyond, ContinueTheDifferenceIfTheRatioIsNone) {
  EXPECT_EQ(beyond("model.dropout", {"0", "0.1"}, End::largest), "0.2");
  EXPECT_EQ(beyond("model.dropout", {"0", "0.1", "0.2"}, End::smallest), "-0.1");
}

TEST(ValuesBeyond, AreNoneIfTheNextWholeNumberIsTheLast) {
  EXPECT_EQ(beyond("model.attention.heads", {"1", "2"}, End::smallest), "none") << "0.5 is 1";
}

TEST(Candidates, AreRefusedLikeEveryValue) {
  const auto study = study_of(kBase + "tune: {by: shared, keys: {model.dropout: [0.4, 0.8]}}\n");
  const auto& tuning = *study.tuning;
  const auto is_allowed = [&](const char* text) {
    auto value = tuning.keys[0].values[0];
    value.scalar = text;
    return candidate_of(tuning.arms[0], tuning, {value}, study.file).has_value();
  };
  EXPECT_TRUE(is_allowed("0.9"));
  EXPECT_FALSE(is_allowed("1.6"));
}

}  // namespace
}  // namespace ablate::config
