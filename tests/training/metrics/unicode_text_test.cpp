#include "training/metrics/unicode_text.h"

#include <gtest/gtest.h>

#include "tests/recorded.h"
#include "tokenizer/text/unicode.h"
#include "training/metrics/bleu.h"

namespace ablate::training {
namespace {

TEST(Tokenizer13a, EqualsSacrebleuOnEveryGoldenLine) {
  const auto& examples = recorded("training/golden/sacrebleu.json")["tokens"];
  ASSERT_GT(examples.size(), 400U);
  for (const auto& example : examples)
    EXPECT_EQ(nlohmann::json(tokenize_13a(example[0].get<std::string>())), example[1])
        << example[0];
}

TEST(Tokenizer13a, LeavesPointsBetweenDigits) {
  EXPECT_EQ(tokenize_13a("It costs 1,000.50, &quot;not&quot; 2-3."),
            (std::vector<std::string>{"It", "costs", "1,000.50", ",", "\"", "not", "\"", "2", "-",
                                      "3", "."}));
}

TEST(LowerCase, EqualsPythonsForEveryCasedCharacter) {
  for (const auto& example : recorded("training/golden/sacrebleu.json")["lower"])
    EXPECT_EQ(tokenizer::lower_case(example[0].get<std::string>()), example[1].get<std::string>());
}

TEST(SplitWords, SplitsWherePythonDoes) {
  const auto spaces =
      recorded("training/golden/sacrebleu.json")["spaces"].get<std::vector<char32_t>>();
  std::vector<char32_t> found;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xd800 && c <= 0xdfff) continue;
    std::string text = "a";
    tokenizer::append_utf8(text, c);
    if (split_words(text + 'b').size() == 2) found.push_back(c);
  }
  EXPECT_EQ(found, spaces);
}

TEST(StripEnd, KeepsTheBeginning) {
  EXPECT_EQ(strip_end(" a b \u3000\t"), " a b");
  EXPECT_EQ(strip_end(" \n"), "");
}

}  // namespace
}  // namespace ablate::training
