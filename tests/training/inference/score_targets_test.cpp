#include "training/inference/score_targets.h"

#include <gtest/gtest.h>

#include "tests/says.h"
#include "tests/training/inference/small_translator.h"
#include "training/storage/errors.h"

namespace ablate::training {
namespace {

/// Whether an output ended, and is what its text is read as.
bool comparable(const Translation& one) {
  return one.text.size() < 10 && one.text.find("\u2047") == std::string::npos;
}

TEST(ScoreTargets, IsTheLogProbabilityOfWhatTheSearchFound) {
  for (const auto family : {models::Family::encoder_decoder, models::Family::decoder_only}) {
    const auto translator = small_translator(3, family);
    const std::vector<std::string> lines{"a", "d c b a"};
    const auto found = translate_all({&translator, 1}, {.lines = lines, .n_best = 40},
                                     {.length_penalty = 0, .max_length = 7});
    std::vector<data::Example> pairs;
    std::vector<double> expected;
    for (size_t i = 0; i < lines.size(); ++i)
      for (const auto& one : found[i])
        if (comparable(one)) {
          pairs.push_back({lines[i], one.text});
          expected.push_back(one.log_probability);
        }
    EXPECT_GT(pairs.size(), 3U);
    const auto scores = score_targets(translator, pairs, 2);
    ASSERT_EQ(scores.size(), expected.size());
    for (size_t i = 0; i < scores.size(); ++i)
      EXPECT_NEAR(scores[i].value(), expected[i], 1e-4) << pairs[i].target;
  }
}

TEST(ScoreTargets, OfABlankSourceThereAreNone) {
  for (const auto family : {models::Family::encoder_decoder, models::Family::decoder_only,
                            models::Family::encoder_only}) {
    const auto translator = small_translator(3, family);
    const std::string target = family == models::Family::encoder_only ? "good" : "a";
    const std::vector<data::Example> pairs{
        {"a", target}, {"", target}, {"\u00a0\u3000", target}, {"d c", target}};
    const auto scores = score_targets(translator, pairs, 2);
    EXPECT_FALSE(scores[1]);
    EXPECT_FALSE(scores[2]);
    EXPECT_NEAR(*scores[0], *score_targets(translator, {&pairs[0], 1}, 2)[0], 1e-5);
    EXPECT_NEAR(*scores[3], *score_targets(translator, {&pairs[3], 1}, 2)[0], 1e-5);
  }
}

TEST(ScoreTargets, NameTheLineWhoseProbabilityIsNotFinite) {
  const auto translator = small_translator(3, models::Family::encoder_decoder, {}, "b");
  const std::vector<data::Example> fine{{"a", "a"}, {"d", "c"}};
  EXPECT_EQ(score_targets(translator, fine, 2).size(), 2U);
  auto pairs = fine;
  pairs.push_back({"a b", "a"});
  EXPECT_EQ(refusal_of<Diverged>([&] { score_targets(translator, pairs, 2); }),
            "line 3: the log-probability of its target is nan");
}

}  // namespace
}  // namespace ablate::training
