#include "training/inference/classify.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/training/inference/small_translator.h"
#include "training/inference/score_targets.h"

namespace ablate::training {
namespace {

TEST(Classify, GivesEveryLineItsLikeliestClassAndItsLogProbability) {
  const auto translator = small_translator(4, models::Family::encoder_only);
  const std::vector<std::string> lines{"a", "a b c d", "b c", "d c b a d"};
  const auto found = classify(translator, lines, 2);
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto score_of = [&](const std::string& label) {
      return score_targets(translator, std::vector<data::Example>{{lines[i], label}}, 1).front();
    };
    const auto& own = found[i].text;
    const std::string other = own == "bad" ? "good" : "bad";
    EXPECT_NEAR(score_of(own), found[i].score, 1e-5) << own;
    EXPECT_LE(score_of(other), found[i].score);
    EXPECT_EQ(classify(translator, std::vector{lines[i]}, 1)[0].text, own);
  }
}

}  // namespace
}  // namespace ablate::training
