#include "experiments/analysis/sentence_test.h"

#include <gtest/gtest.h>

#include "tests/experiments/analysis/statistics/golden.h"

namespace ablate::analysis {
namespace {

TEST(SentenceTest, HasThePOfSacrebleuToTheLastDigit) {
  for (const auto& corpus : statistics::golden()["corpora"]) {
    const auto references = corpus["references"].get<Lines>();
    const auto arm = score_sentences(corpus["system"].get<Lines>(), references);
    const auto baseline = score_sentences(corpus["baseline"].get<Lines>(), references);
    const statistics::Resampling resampling(references.size());
    const auto expect = [&](const SentenceTest& found, const std::string& metric) {
      const auto& bootstrap = corpus["bs"][metric];
      EXPECT_EQ(found.bootstrap_p, bootstrap["p"].get<double>()) << bootstrap;
      EXPECT_EQ(found.randomisation_p, corpus["ar"][metric]["p"].get<double>()) << bootstrap;
      const auto scores = bootstrap["scores"].get<std::vector<double>>();
      EXPECT_NEAR(found.difference, scores[1] - scores[0], 1e-9);
    };
    expect(bleu_test(arm, baseline, resampling), "bleu");
    expect(chrf_test(arm, baseline, resampling), "chrf");
  }
}

TEST(SentenceTest, EqualOutputsAreNoFinding) {
  const Lines references{"a b c d e", "f g h i j"}, outputs{"a b c d x", "f g h i"};
  const auto scored = score_sentences(outputs, references);
  const statistics::Resampling resampling(references.size());
  EXPECT_EQ(bleu_test(scored, scored, resampling).bootstrap_p, 1);
  EXPECT_EQ(chrf_test(scored, scored, resampling).randomisation_p, 1);
}

}  // namespace
}  // namespace ablate::analysis
