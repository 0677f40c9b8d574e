#include "experiments/analysis/claims.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "experiments/analysis/contrast.h"
#include "experiments/analysis/family.h"
#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"

namespace ablate::analysis {
namespace {

TEST(Verdicts, AnIntervalContainsZeroExactlyIfNoDifferenceIsShown) {
  std::mt19937 random{3};
  std::normal_distribution<double> noise;
  const auto study = study_of(study_yaml(7, {"a", "b", "c"}, kCompare));
  int shown = 0;
  for (int i = 0; i < 300; ++i) {
    Scores scores;
    for (const auto& [arm, centre] :
         std::map<std::string, double>{{"base", 0.5}, {"a", 0.5}, {"b", 0.52}, {"c", 0.55}})
      for (int seed = 0; seed < 7; ++seed) scores[arm].push_back(centre + 0.02 * noise(random));
    const auto evidence = make_evidence(study, runs_of(scores));
    for (const char* arm : {"a", "b", "c"}) {
      const auto found = contrast(evidence, arm);
      ASSERT_TRUE(found.interval.has_value());
      const bool zero = found.interval->low <= 0 && found.interval->high >= 0;
      EXPECT_EQ(zero, found.difference.adjusted_p > kLevel);
      const auto& ratio = found.relative->interval;
      ASSERT_TRUE(ratio.has_value());
      EXPECT_EQ(zero, ratio->low <= 0 && ratio->high >= 0);
      shown += zero ? 0 : 1;
    }
  }
  EXPECT_GT(shown, 100);
  EXPECT_LT(shown, 800);
}

TEST(Intervals, OfAMeanEndWhereItsMetricEnds) {
  const std::vector<double> high{1, 1, 0.95, 0.8, 1, 1, 0.8, 0.95, 1, 1};
  const std::vector<double> low{0.2, 0, 0, 0, 0.2, 0.05, 0.05, 0, 0.05, 0};
  for (const auto test :
       {config::PairedTest::sign_flip, config::PairedTest::t, config::PairedTest::e_value}) {
    EXPECT_LE(interval_of(high, test, {0, 1})->high, 1) << config::word_of(test);
    EXPECT_GE(interval_of(low, test, {0, 1})->low, 0) << config::word_of(test);
  }
}

/// How often 400 studies of 8 seeds and three arms on two test sets make a wrong claim of a
/// difference, and one of equality: in each the differences of some comparisons have the centre 0,
/// the others lie at the margin.
class ErrorRate {
 public:
  static constexpr int kStudies = 400, kSeeds = 8;
  static constexpr double kMargin = 0.05;

  /// Shares of studies.
  struct Rates {
    double difference = 0, equality = 0;
  };

  /// `at_margin` of the six comparisons truly differ, by exactly the margin.
  Rates wrong(int at_margin) {
    const auto study = study_of(study_yaml(
        kSeeds, {"a", "b", "c"}, compare(kBothLengths + ", margin: " + std::to_string(kMargin))));
    Rates rates;
    for (int i = 0; i < kStudies; ++i) add_wrong_claims(study, at_margin, rates);
    return rates;
  }

 private:
  std::vector<double> scores(double centre) {
    std::normal_distribution<double> noise{centre, 0.03};
    std::vector<double> values;
    for (int seed = 0; seed < kSeeds; ++seed) values.push_back(noise(random_));
    return values;
  }

  void add_wrong_claims(const config::Study& study, int at_margin, Rates& rates) {
    Scores within{{"base", scores(0.6)}}, beyond{{"base", scores(0.6)}};
    int comparison = 0;
    for (const char* arm : {"a", "b", "c"})
      for (auto* set : {&within, &beyond})
        (*set)[arm] = scores(comparison++ < at_margin ? 0.6 + kMargin : 0.6);
    const auto evidence = make_evidence(study, runs_of(within, beyond));
    comparison = 0;
    bool difference = false, equality = false;
    for (const char* arm : {"a", "b", "c"})
      for (const char* set : {"length 12", "length 13"}) {
        const auto found = contrast(evidence, arm, set);
        if (comparison++ < at_margin)
          equality = equality || found.within.adjusted_p <= kLevel;
        else
          difference = difference || found.difference.adjusted_p <= kLevel;
      }
    rates.difference += difference ? 1.0 / kStudies : 0;
    rates.equality += equality ? 1.0 / kStudies : 0;
  }

  std::mt19937 random_{1};
};

TEST(NullStudy, AnyWrongDifferenceAndAnyWrongEqualityHaveAtMostTheNominalRate) {
  const double margin = 4 * std::sqrt(kLevel * (1 - kLevel) / ErrorRate::kStudies);
  for (const int at_margin : {0, 3, 6}) {
    const auto rates = ErrorRate().wrong(at_margin);
    EXPECT_LE(rates.difference, kLevel + margin) << at_margin;
    EXPECT_LE(rates.equality, kLevel + margin) << at_margin;
  }
}

TEST(TunedArms, AreOneFamilyOfTheFilesArms) {
  const auto evidence = evidence_of(
      study_yaml(8, {"more"},
                 kCompare + "tune: {by: shared, keys: {training.schedule.peak: [0.001, 0.002]}}\n"),
      {{"base", std::vector(8, 0.9)}, {"more", std::vector(8, 0.8)}});
  EXPECT_EQ(evidence.tasks.front().arms.size(), 2U);
  EXPECT_EQ(evidence.tasks.front().comparisons, 1);
}

TEST(UndefinedScores, AreNeitherShownAsZeroNorCompared) {
  auto runs = runs_of({{"base", kLow}, {"a", kHigh}});
  for (auto& run : runs.results)
    for (auto& test : run.tests) test.bleu = std::nan("");
  const auto evidence =
      evidence_of(study_yaml(8, {"a"}, "compare: {baseline: base, metric: bleu}\n"), runs);
  const auto cell = cell_of(evidence, "a", "bleu");
  EXPECT_TRUE(std::isnan(cell.sample.mean));
  EXPECT_FALSE(cell.contrast.has_value());
  EXPECT_FALSE(cell.best);
  EXPECT_EQ(evidence.answer, "No claim: there is no comparison with values on both sides.");
  EXPECT_TRUE(says(notes_of(evidence),
                   "\ncopy: BLEU on length 12 is not defined in finished runs of base and a.\n"));
}

TEST(BestCell, IsTheOneWhoseMeanNoneBeatsAsItIsPrintedAndSomeFallShortOf) {
  const auto evidence = evidence_of(study_yaml(1, {"a", "b"}, kCompare),
                                    {{"base", {std::nan("")}}, {"a", {0.90004}}, {"b", {0.9}}},
                                    {{"base", {0.3}}, {"a", {0.5}}, {"b", {0.3}}});
  EXPECT_FALSE(cell_of(evidence, "base").best);
  EXPECT_FALSE(cell_of(evidence, "a").best) << "the others are printed alike or undefined";
  EXPECT_TRUE(cell_of(evidence, "a", "exact_match", "length 13").best);
  EXPECT_FALSE(cell_of(evidence, "b", "exact_match", "length 13").best);
}

}  // namespace
}  // namespace ablate::analysis
