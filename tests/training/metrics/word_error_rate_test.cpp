#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/recorded.h"
#include "training/metrics/rouge.h"

namespace ablate::training {
namespace {

using Lines = std::vector<std::string>;

TEST(WordErrorRate, EqualsJiwerOnEveryGoldenCase) {
  const auto& cases = recorded("training/golden/word_error_rate.json")["cases"];
  ASSERT_EQ(cases.size(), 200U);
  for (const auto& example : cases)
    EXPECT_NEAR(
        word_error_rate(example["hypotheses"].get<Lines>(), example["references"].get<Lines>()),
        example["rate"].get<double>(), 1e-12)
        << example.dump();
}

TEST(WordErrorRate, ByHand) {
  // One word replaced, one deleted, one inserted, of four and two.
  EXPECT_DOUBLE_EQ(word_error_rate(Lines{"a x c", "e f g"}, Lines{"a b c d", "e f"}), 3.0 / 6);
  EXPECT_DOUBLE_EQ(word_error_rate(Lines{" a  b "}, Lines{"a b"}), 0);
}

TEST(WordErrorRate, MayExceedOne) {
  EXPECT_DOUBLE_EQ(word_error_rate(Lines{"b c d"}, Lines{"a"}), 3);
}

TEST(WordErrorRate, OfNoWordsIsUndefined) {
  EXPECT_TRUE(std::isnan(word_error_rate(Lines{}, Lines{})));
  EXPECT_TRUE(std::isnan(word_error_rate(Lines{"a"}, Lines{""})));
}

TEST(WordErrorRate, RefusesUnequalNumbersOfLines) {
  EXPECT_THROW(word_error_rate(Lines{"a"}, Lines{}), std::invalid_argument);
}

}  // namespace
}  // namespace ablate::training
