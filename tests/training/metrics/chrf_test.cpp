#include "training/metrics/chrf.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/recorded.h"

namespace ablate::training {
namespace {

using Lines = std::vector<std::string>;

TEST(Chrf, EqualsSacrebleuOnEveryGoldenCase) {
  const auto& cases = recorded("training/golden/sacrebleu.json")["cases"];
  ASSERT_GT(cases.size(), 250U);
  for (const auto& example : cases) {
    SCOPED_TRACE(example["hypotheses"].dump());
    const auto hypotheses = example["hypotheses"].get<Lines>();
    const auto references = example["references"].get<Lines>();
    for (const bool lowercase : {false, true}) {
      const auto& value = example[lowercase ? "lc" : "mixed"];
      const auto plain = chrf(hypotheses, references, {.lowercase = lowercase});
      EXPECT_NEAR(plain.score, value["chrf"].get<double>(), 1e-4);
      EXPECT_EQ(plain.signature, value["chrf_signature"].get<std::string>());
      const auto words = chrf(hypotheses, references, {.lowercase = lowercase, .word_order = 2});
      EXPECT_NEAR(words.score, value["chrf++"].get<double>(), 1e-4);
      EXPECT_EQ(words.signature, value["chrf++_signature"].get<std::string>());
    }
  }
}

TEST(Chrf, ByHand) {
  // Characters: 2 of 3 either way; pairs: 1 of 2; triples: 0 of 1; longer ones do not exist.
  const double mean = (2.0 / 3 + 1.0 / 2 + 0) / 3;
  EXPECT_NEAR(chrf(Lines{"a bc"}, Lines{"ab d"}).score, 100 * mean, 1e-9);
}

TEST(Chrf, IsUndefinedWhereNoReferenceHasACharacter) {
  EXPECT_FALSE(chrf(Lines{"a", "b"}, Lines{"", " "}).defined);
  EXPECT_TRUE(chrf(Lines{"", ""}, Lines{"", "a"}).defined);
}

TEST(Chrf, CountsCodePointsAndNoSpaces) {
  const auto statistics = chrf_statistics("ä\t\u00a0日", "ä日");
  EXPECT_EQ(statistics.orders[0], (ChrfStatistics::Order{2, 2, 2}));
  EXPECT_EQ(statistics.orders[1], (ChrfStatistics::Order{1, 1, 1}));
}

TEST(Chrf, OfNothingIsZero) {
  EXPECT_EQ(chrf(Lines{}, Lines{}).score, 0);
  EXPECT_EQ(chrf(Lines{""}, Lines{"abc"}).score, 0);
  EXPECT_EQ(chrf(Lines{"abc"}, Lines{""}).score, 0);
}

TEST(Chrf, RefusesUnequalNumbersOfLines) {
  EXPECT_THROW(chrf(Lines{"a"}, Lines{}), std::invalid_argument);
}

}  // namespace
}  // namespace ablate::training
