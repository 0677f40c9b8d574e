#include "training/metrics/rouge.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/recorded.h"

namespace ablate::training {
namespace {

using Lines = std::vector<std::string>;

TEST(Rouge, EqualsRougeScoreOnEveryGoldenCase) {
  const auto& cases = recorded("training/golden/rouge.json")["cases"];
  ASSERT_GT(cases.size(), 300U);
  for (const auto& example : cases) {
    SCOPED_TRACE(example["hypotheses"].dump());
    const auto score =
        rouge(example["hypotheses"].get<Lines>(), example["references"].get<Lines>());
    EXPECT_NEAR(score.one, example["rouge1"].get<double>(), 1e-12);
    EXPECT_NEAR(score.two, example["rouge2"].get<double>(), 1e-12);
    EXPECT_NEAR(score.longest, example["rougeL"].get<double>(), 1e-12);
  }
}

TEST(Rouge, ByHand) {
  // Words: 3 of 4 and of 3; pairs: "b a" of 3 and of 2; in order: "b a c".
  const auto score = rouge("b a x c", "b, A-C!");
  EXPECT_DOUBLE_EQ(score.one, 6.0 / 7);
  EXPECT_DOUBLE_EQ(score.two, 2.0 / 5);
  EXPECT_DOUBLE_EQ(score.longest, 6.0 / 7);
}

TEST(Rouge, OfAnotherScriptOrOfNoWordIsNotDefined) {
  const Lines russian{"привет мир 7"}, german{"Öl für Äpfel"};
  EXPECT_FALSE(rouge(russian, russian).defined);
  EXPECT_TRUE(rouge(russian, german).defined) << "the references decide";
  EXPECT_FALSE(rouge(Lines{"a"}, Lines{"..."}).defined);
  EXPECT_TRUE(rouge(Lines{""}, Lines{"...a"}).defined);
}

TEST(Rouge, OfNothingIsZero) {
  EXPECT_EQ(rouge(Lines{}, Lines{}).one, 0);
  EXPECT_EQ(rouge("", "").longest, 0);
  EXPECT_EQ(rouge("!?", "abc").one, 0);
}

TEST(Rouge, RefusesUnequalNumbersOfLines) {
  EXPECT_THROW(rouge(Lines{"a"}, Lines{}), std::invalid_argument);
}

}  // namespace
}  // namespace ablate::training
