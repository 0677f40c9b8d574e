#include <gtest/gtest.h>

#include <cmath>

#include "tests/says.h"
#include "tests/training/inference/small_translator.h"
#include "training/inference/score_targets.h"
#include "training/storage/errors.h"

namespace ablate::training {
namespace {

std::vector<Translation> classified(const Translator& translator,
                                    const std::vector<std::string>& lines, int64_t rows) {
  return translate(translator, lines, {.batch = rows});
}

TEST(Classify, GivesEveryLineItsLikeliestClassAndItsLogProbability) {
  const std::vector<std::string> lines{"a", "a b c d", "b c", "d c b a d"};
  int named = 0;  // an untrained model may also choose a special token, which is no class
  for (const uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
    const auto translator = small_translator(seed, models::Family::encoder_only);
    const auto found = classified(translator, lines, 2);
    for (size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(classified(translator, {lines[i]}, 1)[0].text, found[i].text);
      for (const std::string label : {"good", "bad"}) {
        const std::vector<data::Example> pair{{lines[i], label}};
        const double score = score_targets(translator, pair, 1).front().value();
        EXPECT_LE(score, found[i].score + 1e-5);
        if (label != found[i].text) continue;
        EXPECT_NEAR(score, found[i].score, 1e-5);
        ++named;
      }
    }
  }
  EXPECT_GT(named, 3);
}

TEST(Classify, SeveralModelsVoteByTheirMeanProbability) {
  const std::vector<std::string> lines{"a b c d", "a", "d b"};
  const std::vector<Translator> both{small_translator(1, models::Family::encoder_only),
                                     small_translator(2, models::Family::encoder_only)};
  const auto found = translate_all(both, {.lines = lines}, {});
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::vector<data::Example> pair{{lines[i], found[i][0].text}};
    double probability = 0;
    for (const auto& one : both)
      probability += std::exp(score_targets(one, pair, 1).front().value()) / 2;
    EXPECT_NEAR(found[i][0].score, std::log(probability), 1e-5);
  }
}

TEST(Classify, NamesTheLineWhoseProbabilitiesAreNotFinite) {
  const auto translator = small_translator(3, models::Family::encoder_only, {}, "b");
  EXPECT_EQ(classified(translator, {"a", "c d"}, 2).size(), 2U);
  EXPECT_EQ(refusal_of<Diverged>([&] {
              classified(translator, {"a", "c d", "a b"}, 1);
            }),
            "line 3: the log-probabilities of its classes are not finite");
  const std::vector<std::string> later{"a b"};
  EXPECT_EQ(refusal_of<Diverged>([&] {
              translate_all({&translator, 1}, {.lines = later, .first_line = 4096}, {});
            }),
            "line 4097: the log-probabilities of its classes are not finite");
}

TEST(Classify, ABlankLineHasNoClass) {
  const auto translator = small_translator(1, models::Family::encoder_only);
  const std::vector<std::string> lines{"", "a b", "\xc2\xa0"};
  const auto found = classified(translator, lines, 2);
  EXPECT_EQ(found[0].text, "");
  EXPECT_EQ(found[2].text, "");
  EXPECT_EQ(found[1].text, classified(translator, {lines[1]}, 1)[0].text);
  EXPECT_LT(found[1].score, 0);
}

}  // namespace
}  // namespace ablate::training
