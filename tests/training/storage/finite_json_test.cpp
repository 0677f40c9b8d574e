#include "training/storage/finite_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "options/members.h"

namespace ablate::training {
namespace {

struct Inner {
  std::string name;
  double score = 0;

  ABLATE_FIELDS(name, score)
};

struct Outer {
  int64_t step = 3;
  std::string text;
  double loss = 0;
  std::vector<double> curve;
  Inner inner;
  std::vector<Inner> list;

  ABLATE_FIELDS(step, text, loss, curve, inner, list)
};

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

Outer example() {
  return {.step = 7,
          .text = "NaN",
          .loss = kNaN,
          .curve = {0.5, -kInfinite},
          .inner = {"Infinity", kInfinite},
          .list = {{"a", 1}, {"b", kNaN}}};
}

TEST(RecordJson, IsStrictJsonWhateverTheNumbers) {
  EXPECT_EQ(to_json(example()).dump(),
            R"({"curve":[0.5,"-Infinity"],"inner":{"name":"Infinity","score":"Infinity"},)"
            R"("list":[{"name":"a","score":1.0},{"name":"b","score":"NaN"}],"loss":"NaN",)"
            R"("step":7,"text":"NaN"})");
}

TEST(RecordJson, GivesBackNumbersAsNumbersAndTextsAsTexts) {
  const auto back = from_json<Outer>(nlohmann::json::parse(to_json(example()).dump()));
  EXPECT_EQ(back.step, 7);
  EXPECT_EQ(back.text, "NaN");
  EXPECT_TRUE(std::isnan(back.loss));
  EXPECT_EQ(back.curve, (std::vector<double>{0.5, -kInfinite}));
  EXPECT_EQ(back.inner.name, "Infinity");
  EXPECT_EQ(back.inner.score, kInfinite);
  ASSERT_EQ(back.list.size(), 2U);
  EXPECT_TRUE(std::isnan(back.list[1].score));
}

TEST(RecordJson, AMissingOrMistypedMemberIsAnError) {
  for (const char* name : {"step", "loss", "inner", "list"}) {
    auto json = to_json(example());
    json.erase(name);
    EXPECT_THROW(from_json<Outer>(json), nlohmann::json::exception) << name;
    json[name] = "wrong";
    EXPECT_THROW(from_json<Outer>(json), nlohmann::json::exception) << name;
  }
}

TEST(RecordJson, WhatIsNoObjectIsAnError) {
  for (const char* text : {"[]", "3", "null", "\"step\""})
    EXPECT_THROW(from_json<Outer>(nlohmann::json::parse(text)), nlohmann::json::exception) << text;
}

/// 1e300 is no value of an integer's type, and 1.5 none that it could give back.
TEST(RecordJson, AFractionIsNoInteger) {
  for (const double number : {1.5, 1e300}) {
    auto json = to_json(example());
    json["step"] = number;
    EXPECT_THROW(from_json<Outer>(json), nlohmann::json::exception) << number;
  }
}

/// As a signed integer it would be -1.
TEST(RecordJson, AnIntegerThatAMemberCannotHoldIsNone) {
  auto json = to_json(example());
  json["step"] = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(from_json<Outer>(json).step, std::numeric_limits<int64_t>::max());
  json["step"] = std::numeric_limits<uint64_t>::max();
  EXPECT_THROW(from_json<Outer>(json), nlohmann::json::exception);
}

TEST(ParseJson, TakesSixtyFourLevelsAndNoMore) {
  const auto nested = [](size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_TRUE(parse_json(nested(64)).is_array());
  EXPECT_TRUE(parse_json(nested(65)).is_discarded());
  EXPECT_TRUE(parse_json(nested(1'000'000)).is_discarded());
  EXPECT_TRUE(parse_json("{").is_discarded());
}

TEST(RecordJson, BytesOfAFileAreUtf8) {
  EXPECT_EQ(json_file({{"text", "\xff"}}), "{\n  \"text\": \"\xef\xbf\xbd\"\n}\n");
}

}  // namespace
}  // namespace ablate::training
