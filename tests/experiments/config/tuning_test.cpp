#include "experiments/config/study/tuning.h"

#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

Value number(const std::string& text) { return {.type = Value::Type::scalar, .scalar = text}; }

std::vector<Value> numbers(const std::vector<std::string>& texts) {
  std::vector<Value> values;
  for (const auto& text : texts) values.push_back(number(text));
  return values;
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
