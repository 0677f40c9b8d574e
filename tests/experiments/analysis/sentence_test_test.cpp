#include "experiments/analysis/sentence_test.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/experiments/analysis/statistics/golden.h"

namespace ablate::analysis {
namespace {

/// By how much two estimates of a p from so many trials may differ: five standard deviations.
double noise(double p, int64_t trials) {
  return 5 * std::sqrt(2 * p * (1 - p) / static_cast<double>(trials));
}

/// Of equal scores sacreBLEU has the smallest p, if they are 0 in every sample.
TEST(SentenceTest, HasThePOfSacrebleuButForTheNoiseOfItsDraws) {
  for (const auto& corpus : statistics::golden()["corpora"]) {
    const auto references = corpus["references"].get<Lines>();
    const auto arm = score_sentences(corpus["system"].get<Lines>(), references);
    const auto baseline = score_sentences(corpus["baseline"].get<Lines>(), references);
    const auto expect = [&](const SentenceTest& found, const std::string& metric) {
      const auto& bootstrap = corpus["bs"][metric];
      const auto scores = bootstrap["scores"].get<std::vector<double>>();
      const bool equal = scores[0] == scores[1];
      const auto drawn = equal ? 1 : bootstrap["p"].get<double>();
      const auto swapped = equal ? 1 : corpus["ar"][metric]["p"].get<double>();
      EXPECT_NEAR(found.bootstrap_p, drawn, noise(drawn, 1'000)) << bootstrap;
      EXPECT_NEAR(found.randomisation_p, swapped, noise(swapped, 10'000)) << bootstrap;
      EXPECT_NEAR(found.difference, scores[1] - scores[0], 1e-9);
    };
    expect(bleu_test(arm, baseline), "bleu");
    expect(chrf_test(arm, baseline), "chrf");
  }
}

TEST(SentenceTest, EqualOutputsAreNoFinding) {
  const Lines references{"a b c d e", "f g h i j"}, outputs{"a b c d x", "f g h i"};
  const auto scored = score_sentences(outputs, references);
  EXPECT_EQ(bleu_test(scored, scored).bootstrap_p, 1);
  EXPECT_EQ(chrf_test(scored, scored).randomisation_p, 1);
}

}  // namespace
}  // namespace ablate::analysis
