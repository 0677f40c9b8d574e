#include "training/metrics/bleu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/recorded.h"

namespace ablate::training {
namespace {

using Lines = std::vector<std::string>;

void expect_golden(const nlohmann::json& example, const nlohmann::json& value,
                   BleuOptions options) {
  const auto hypotheses = example["hypotheses"].get<Lines>();
  const auto references = example["references"].get<Lines>();
  const auto score = bleu(hypotheses, references, options);
  EXPECT_NEAR(score.score, value["bleu"].get<double>(), 1e-4);
  EXPECT_NEAR(score.brevity_penalty, value["brevity_penalty"].get<double>(), 1e-6);
  EXPECT_EQ(score.hypothesis_length, value["hypothesis_length"]);
  EXPECT_EQ(score.reference_length, value["reference_length"]);
  EXPECT_EQ(score.signature, value["bleu_signature"].get<std::string>());
  BleuStatistics sum;
  for (size_t i = 0; i < hypotheses.size(); ++i)
    sum += bleu_statistics(hypotheses[i], references[i], options);
  for (size_t n = 0; n < 4; ++n) {
    EXPECT_NEAR(score.precisions[n], value["precisions"][n].get<double>(), 1e-4);
    EXPECT_EQ(sum.correct[n], value["correct"][n]);
    EXPECT_EQ(sum.total[n], value["total"][n]);
  }
}

TEST(Bleu, IsUndefinedWhereNoReferenceHasFourWords) {
  EXPECT_FALSE(bleu(Lines{"one two three four"}, Lines{"one"}).defined);
  EXPECT_FALSE(bleu(Lines{"a", "b"}, Lines{"a b c", "b"}).defined);
  EXPECT_TRUE(bleu(Lines{"a", "b"}, Lines{"a b c d", "b"}).defined);
}

TEST(Bleu, EqualsSacrebleuOnEveryGoldenCase) {
  const auto& cases = recorded("training/golden/sacrebleu.json")["cases"];
  ASSERT_GT(cases.size(), 250U);
  for (const auto& example : cases) {
    SCOPED_TRACE(example["hypotheses"].dump());
    expect_golden(example, example["mixed"], {});
    expect_golden(example, example["lc"], {.lowercase = true});
  }
}

TEST(Bleu, ByHand) {
  // 4 of 5 words, 2 of 4 pairs, 1 of 3 triples, no quadruple of 2 (half a match); one word short.
  const auto score = bleu(Lines{"a b c x d"}, Lines{"a b c y d e"});
  const double expected = std::exp(1 - 6.0 / 5) * std::pow(4.0 / 5 * 2 / 4 * 1 / 3 * 0.5 / 2, 0.25);
  EXPECT_NEAR(score.score, 100 * expected, 1e-9);
  EXPECT_EQ(score.signature, "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
}

TEST(Bleu, OfNothingIsZero) {
  EXPECT_EQ(bleu(Lines{}, Lines{}).score, 0);
  EXPECT_EQ(bleu(Lines{""}, Lines{"a b c d"}).score, 0);
  EXPECT_EQ(bleu(Lines{""}, Lines{"a b c d"}).brevity_penalty, 0);
}

TEST(Bleu, TakesMalformedTextAsItIs) {
  EXPECT_EQ(bleu_statistics("a \xff\xfe b", "a \xff\xfe b", {.lowercase = true}).correct[0], 3);
}

TEST(Bleu, RefusesUnequalNumbersOfLines) {
  EXPECT_THROW(bleu(Lines{"a"}, Lines{"a", "b"}), std::invalid_argument);
}

}  // namespace
}  // namespace ablate::training
