#include "experiments/config/study/tuning.h"

#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"
#include "tests/says.h"

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
                              "tune: {keys: {model.encoder.attention.window: [2, 4], "
                              "model.decoder.attention.window: [2], model.dropout: [0.1]}}\n");
  std::string names;
  for (const auto& key : study.tuning->keys) names += key.name + " ";
  EXPECT_EQ(names, "encoder.attention.window decoder.attention.window dropout ");
}

TEST(Tuning, SeedsAreTheSmallestAboveAHundredThatTheStudyDoesNotHave) {
  EXPECT_EQ(study_of(kTuned).tuning->seeds, (std::vector<int64_t>{101, 102}));
  EXPECT_EQ(study_of(replaced(kTuned, "[4, 5]", "[4, 101, 103]")).tuning->seeds,
            (std::vector<int64_t>{102, 104}));
}

TEST(Tuning, SearchesOfSeedsHaveASeedEach) {
  const auto text = replaced(kTuned, "by: shared, ", "");
  EXPECT_EQ(study_of(text).tuning->seeds, (std::vector<int64_t>{104, 105}));
  EXPECT_EQ(study_of(text, {.seeds = {5}}).tuning->seeds, std::vector<int64_t>{105});
  EXPECT_EQ(study_of(text, {.seeds = {5, 6}}).tuning->seeds, (std::vector<int64_t>{105, 106}));
  const auto given = replaced(text, "tune: {", "tune: {seeds: [7, 9], ");
  EXPECT_EQ(study_of(given, {.seeds = {5}}).tuning->seeds, std::vector<int64_t>{9});
}

TEST(Tuning, OnlySelectedArmsAreTuned) {
  const auto study = study_of(kTuned, {.arms = {"b"}});
  ASSERT_EQ(study.tuning->arms.size(), 1U);
  EXPECT_EQ(study.tuning->arms[0].arm, "b");
}

TEST(Curves, HaveEveryValueOnEverySeedOfTheStudy) {
  const auto text = kHead + "base: {data: {task: copy}}\narms: {a: {}, b: {}}\n" +
                    "tune: {by: curve, keys: {training.schedule.peak: [0.5, 0.25, 1.0]}}\n";
  const auto study = study_of(text, {.arms = {"b"}, .seeds = {3, 4}});
  std::string seen;
  for (const auto& run : study.runs)
    seen +=
        fmt::format("{}:{}:{}:{} ", run.arm, folder_arm(run), run.seed, peak_of(run.experiment));
  EXPECT_EQ(seen,
            "b:b-peak=0.5:3:0.5 b:b-peak=0.5:4:0.5 b:b-peak=0.25:3:0.25 b:b-peak=0.25:4:0.25 "
            "b:b-peak=1:3:1 b:b-peak=1:4:1 ");
  EXPECT_FALSE(study.runs.front().trial);
  EXPECT_EQ(study.runs.front().origins.at("training.schedule.peak"), "study.yaml:5");
  EXPECT_EQ(study.tuning->seeds, (std::vector<int64_t>{3, 4}));
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
  const auto study = study_of(kBase + "tune: {keys: {model.dropout: [0.4, 0.8]}}\n");
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
