#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "tests/message_table.h"
#include "tests/says.h"
#include "tokenizer/huggingface/regex.h"
#include "tokenizer/huggingface/tokenizer_json.h"

namespace ablate::tokenizer::huggingface {
namespace {

using nlohmann::json;

json good() {
  return json::parse(R"({"version": "1.0", "truncation": null, "padding": null,
      "added_tokens": [{"id": 3, "content": "<s>", "single_word": false, "lstrip": false,
                        "rstrip": false, "normalized": false, "special": true}],
      "normalizer": null, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null,
      "decoder": null,
      "model": {"type": "BPE", "dropout": null, "unk_token": null,
                "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}})");
}

std::string said_of(const std::string& bytes) {
  return refusal_of<TokenizerError>([&] { const TokenizerJson tokenizer(bytes); });
}

/// What is said of the good file after a change.
std::string said(const std::string& place, const json& value) {
  auto file = good();
  file[json::json_pointer(place)] = value;
  const auto message = said_of(file.dump());
  constexpr std::string_view kBegin = "not a usable tokenizer.json: ";
  EXPECT_TRUE(message.empty() || message.starts_with(kBegin)) << message;
  return message.empty() ? "" : message.substr(kBegin.size());
}

TEST(Refusal, NamesWhatIsWrong) {
  MessageTable(std::string(ABLATE_SOURCE) + "/tests/tokenizer/huggingface/refusals.txt")
      .check([](const MessageRow& row) {
        const auto blank = row.name.find(' ');
        const auto message = said(row.name.substr(0, blank), json::parse(row.name.substr(blank)));
        return message.empty() ? "accepted" : message;
      });
}

TEST(Refusal, NamesAWrongExpression) {
  const auto split = [](const char* pattern) {
    return said("/pre_tokenizer",
                {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}});
  };
  EXPECT_EQ(split("a+"), "");
  EXPECT_EQ(split("(a"),
            "pre_tokenizer.pattern.Regex is a regular expression that cannot be used: end pattern "
            "with unmatched parenthesis");
  EXPECT_TRUE(split(R"(\p{Klingon})").starts_with("pre_tokenizer.pattern.Regex is a regular"));
}

TEST(Refusal, SaysWhereAFileEndsOrRepeatsItself) {
  const auto whole = good().dump();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_TRUE(
        said_of(whole.substr(0, size)).starts_with("not a usable tokenizer.json: it is cut"))
        << size;
  EXPECT_EQ(said_of(R"({"model": {"vocab": {"a": 0, "a": 1}}})"),
            "not a usable tokenizer.json: the key 'a' stands twice in one object");
  EXPECT_EQ(said_of(R"({"model": 1e999})"),
            "not a usable tokenizer.json: it has a number that is too large");
  EXPECT_EQ(said_of(std::string(100'000, '[')),
            "not a usable tokenizer.json: it is nested deeper than 64");
  EXPECT_EQ(said_of("[]"), "not a usable tokenizer.json: it must be an object");
  EXPECT_EQ(said_of("{}"), "not a usable tokenizer.json: it lacks 'model'");
  EXPECT_TRUE(said_of("{\"a\": \"\xff\"}").starts_with("not a usable tokenizer.json: it is cut"));
}

TEST(Refusal, OfATableThatPointsOutsideItself) {
  auto file = good();  // one unit, whose children would be far behind the table
  file["normalizer"] = {{"type", "Precompiled"}, {"precompiled_charsmap", "BAAAAAD8//8="}};
  EXPECT_EQ(TokenizerJson(file.dump()).encode("ab"), std::vector<int32_t>{2});
}

/// The inputs of the fuzzer reach every part.
TEST(Refusal, ADamagedFileIsRefusedOrHarmless) {
  std::mt19937 random(3);
  int refused = 0, files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::string(ABLATE_SOURCE) + "/tests/fuzz/corpus/tokenizer_json")) {
    std::stringstream bytes;
    bytes << std::ifstream(entry.path()).rdbuf();
    ++files;
    for (int trial = 0; trial < 500; ++trial) {
      auto damaged = bytes.str();
      for (uint32_t i = 0; i <= random() % 3; ++i)
        damaged[random() % damaged.size()] = "0129\"{}[]:,aeslt\\x"[random() % 20];
      try {
        const TokenizerJson tokenizer(damaged);
        tokenizer.decode(tokenizer.framed(tokenizer.encode(" the cat's\xff <s>Cat 中")), true);
      } catch (const TokenizerError&) {
        ++refused;
      }
    }
  }
  EXPECT_EQ(files, 4);
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 2000);
}

TEST(Refusal, OfATextThatTheExpressionCannotDivide) {
  const Regex hard("(a+)+$");
  std::vector<Part> parts;
  EXPECT_THROW(hard.divide(std::string(60, 'a') + "b", parts), TokenizerError);
}

/// What other libraries take to mean something else.
TEST(Regex, MeansWhatOnigurumaMeans) {
  const auto matches = [](const char* pattern, std::string_view text) {
    std::vector<Part> parts;
    Regex(pattern).divide(text, parts);
    std::vector<std::string_view> found;
    for (const auto& part : parts)
      if (part.match) found.push_back(text.substr(part.begin, part.end - part.begin));
    return found;
  };
  using Found = std::vector<std::string_view>;
  EXPECT_EQ(matches("a{2}+", "aaaaa"), Found{"aaaa"}) << "no possessive interval";
  EXPECT_EQ(matches("(?m:a.)", "a\n"), Found{"a\n"}) << "m lets a dot match the end of a line";
  EXPECT_EQ(matches("\\h+", "xafx"), Found{"af"}) << "hexadecimal digits";
  EXPECT_EQ(matches("[a-z&&[^b]]+", "abc"), (Found{"a", "c"}));
  EXPECT_EQ(matches("x*", "axb"), (Found{"", "x", ""})) << "no empty match right behind another";
}

}  // namespace
}  // namespace ablate::tokenizer::huggingface
