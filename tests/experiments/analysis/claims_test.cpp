#include "experiments/analysis/claims.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "experiments/analysis/contrast.h"
#include "experiments/records/tuned_arms.h"
#include "tests/experiments/analysis/synthetic.h"

namespace ablate::analysis {
namespace {

std::string compare(const std::string& more) {
  return "compare: {baseline: base, metric: exact_match, " + more + "}\n";
}

const std::string kBoth = "test_sets: {copy: [length 12, length 13]}";

const std::vector<double> kLow(8, 0.6), kHigh(8, 0.9);

TEST(Family, IsEveryArmOnEveryPrimaryTestSetOfATask) {
  const auto study = study_of(study_yaml(8, {"a", "b"}, compare(kBoth)));
  const auto evidence = make_evidence(study, runs_of({{"base", kLow}, {"a", kHigh}, {"b", kLow}},
                                                     {{"base", kLow}, {"a", kLow}, {"b", kLow}}));
  EXPECT_EQ(evidence.tasks.front().comparisons, 4);
  EXPECT_EQ(contrast(evidence, "a").difference.p, 2.0 / 256);
  EXPECT_EQ(contrast(evidence, "a").difference.holm_p, 4 * 2.0 / 256);
  EXPECT_EQ(evidence.tasks.front().family,
            "Holm's correction covers all 4 primary comparisons of copy: 2 arms on length 12 and "
            "length 13.");
}

TEST(Family, IsWithinTheTrainedLengthUnlessTestSetsAreNamed) {
  const auto study = study_of(study_yaml(8, {"a"}, kCompare));
  const auto evidence =
      make_evidence(study, runs_of({{"base", kLow}, {"a", kHigh}}, {{"base", kLow}, {"a", kHigh}}));
  EXPECT_EQ(contrast(evidence, "a").verdict, Verdict::better);
  EXPECT_EQ(contrast(evidence, "a").difference.holm_p, 2.0 / 256);
  const auto& beyond = contrast(evidence, "a", "length 13");
  EXPECT_EQ(beyond.verdict, Verdict::exploratory);
  EXPECT_TRUE(std::isnan(beyond.difference.p));
  EXPECT_EQ(beyond.sentence, "exploratory, not tested: difference 0.300 [0.300, 0.300]");
  EXPECT_EQ(evidence.tasks.front().family,
            "The p values are of the one primary comparison of copy: 1 arm on length 12. The other "
            "test sets are exploratory: their differences are shown, not tested.");
}

TEST(Family, IsAllTestSetsWhereNoneIsWithinTheTrainedLength) {
  auto runs = runs_of({{"base", kLow}, {"a", kHigh}});
  for (auto& run : runs.results) run.tests.erase(run.tests.begin());
  const auto evidence = make_evidence(study_of(study_yaml(8, {"a"}, kCompare)), runs);
  EXPECT_EQ(evidence.tasks.front().comparisons, 1);
  EXPECT_EQ(contrast(evidence, "a", "length 13").verdict, Verdict::not_learned);
}

TEST(Family, DoesNotShrinkWithTheArmsThatAreSelectedOrFinished) {
  const auto yaml = study_yaml(8, {"a", "b", "c"}, kCompare);
  const auto runs = runs_of({{"base", kLow}, {"a", kHigh}});
  for (const auto& study : {study_of(yaml), study_of(yaml, {.arms = {"base", "a"}})})
    EXPECT_EQ(contrast(make_evidence(study, runs), "a").difference.holm_p, 3 * 2.0 / 256);
}

TEST(Margin, AnArmIsEquivalentDifferentOrUndecided) {
  const auto study = study_of(study_yaml(8, {"same", "worse", "unclear"}, compare("margin: 0.1")));
  const std::vector<double> base{0.6, 0.7, 0.6, 0.7, 0.6, 0.7, 0.6, 0.7};
  std::vector<double> same = base, worse = base, unclear = base;
  for (size_t i = 0; i < base.size(); ++i) {
    same[i] += i % 2 == 0 ? 0.01 : -0.01;
    worse[i] -= 0.3 + 0.01 * static_cast<double>(i);
    unclear[i] += i % 2 == 0 ? 0.2 : -0.1;
  }
  const auto evidence = make_evidence(
      study, runs_of({{"base", base}, {"same", same}, {"worse", worse}, {"unclear", unclear}}));
  const auto& equal = contrast(evidence, "same");
  EXPECT_EQ(equal.verdict, Verdict::equivalent);
  // All eight are within the margin on both sides; of six hypotheses three can be true at once.
  EXPECT_EQ(equal.equivalence.p, 1.0 / 256);
  EXPECT_EQ(equal.equivalence.holm_p, 3 * 1.0 / 256);
  EXPECT_EQ(equal.sentence,
            "equivalent to base within 0.1: difference 0.000 [-0.009, 0.009], p = 0.004 (Holm "
            "0.012)");
  EXPECT_EQ(contrast(evidence, "worse").verdict, Verdict::worse);
  EXPECT_EQ(contrast(evidence, "unclear").verdict, Verdict::undecided);
  EXPECT_TRUE(contrast(evidence, "unclear").sentence.starts_with("undecided: difference 0.050"));
  EXPECT_EQ(evidence.answer,
            "copy, exact match: on length 12 worse (0.315) is worse than base (0.650); same "
            "(0.650) is equivalent to it; unclear (0.700) is neither shown to differ from nor to "
            "be equivalent to it.");
}

TEST(Margin, ADifferenceThatIsShownToBeSmallerThanItIsNoClaimOfADifference) {
  const auto study = study_of(study_yaml(8, {"a"}, compare("margin: 0.1")));
  const auto evidence =
      make_evidence(study, runs_of({{"base", kLow}, {"a", std::vector<double>(8, 0.62)}}));
  EXPECT_LE(contrast(evidence, "a").difference.holm_p, kLevel);
  EXPECT_EQ(contrast(evidence, "a").verdict, Verdict::equivalent);
}

TEST(Margin, FourSeedsCanShowNeitherADifferenceNorEquivalence) {
  const auto study = study_of(study_yaml(4, {"a"}, compare("margin: 0.1")));
  const std::vector<double> same(4, 0.5);
  const auto evidence = make_evidence(study, runs_of({{"base", same}, {"a", same}}));
  EXPECT_EQ(contrast(evidence, "a").verdict, Verdict::too_few_seeds);
  EXPECT_EQ(contrast(evidence, "a").sentence,
            "difference 0.000 [0.000, 0.000]; no claim: 4 seeds can show neither a significant "
            "difference nor equivalence (smallest p 0.062); it takes 5");
}

/// How often 400 studies of 8 seeds and three arms on two test sets make a claim that is wrong: in
/// each the differences of some comparisons have the centre 0, the others lie at the margin.
class ErrorRate {
 public:
  static constexpr int kStudies = 400, kSeeds = 8;
  static constexpr double kMargin = 0.05;

  /// `at_margin` of the six comparisons truly differ, by exactly the margin.
  double wrong(int at_margin) {
    const auto study = study_of(study_yaml(
        kSeeds, {"a", "b", "c"}, compare(kBoth + ", margin: " + std::to_string(kMargin))));
    int found = 0;
    for (int i = 0; i < kStudies; ++i) found += wrong_claim(study, at_margin) ? 1 : 0;
    return static_cast<double>(found) / kStudies;
  }

 private:
  std::vector<double> scores(double centre) {
    std::normal_distribution<double> noise{centre, 0.03};
    std::vector<double> values;
    for (int seed = 0; seed < kSeeds; ++seed) values.push_back(noise(random_));
    return values;
  }

  bool wrong_claim(const config::Study& study, int at_margin) {
    Scores within{{"base", scores(0.6)}}, beyond{{"base", scores(0.6)}};
    int comparison = 0;
    for (const char* arm : {"a", "b", "c"})
      for (auto* set : {&within, &beyond})
        (*set)[arm] = scores(comparison++ < at_margin ? 0.6 + kMargin : 0.6);
    const auto evidence = make_evidence(study, runs_of(within, beyond));
    comparison = 0;
    bool found = false;
    for (const char* arm : {"a", "b", "c"})
      for (const char* set : {"length 12", "length 13"}) {
        const auto verdict = contrast(evidence, arm, set).verdict;
        found = found || (comparison++ < at_margin
                              ? verdict == Verdict::equivalent
                              : verdict == Verdict::better || verdict == Verdict::worse);
      }
    return found;
  }

  std::mt19937 random_{1};
};

TEST(NullStudy, AnyWrongClaimOfTheWholeFamilyHasAtMostTheNominalRate) {
  const double margin = 4 * std::sqrt(kLevel * (1 - kLevel) / ErrorRate::kStudies);
  for (const int at_margin : {0, 3, 6})
    EXPECT_LE(ErrorRate().wrong(at_margin), kLevel + margin) << at_margin;
}

/// A study that tunes, with scores of its fixed and tuned arms.
Evidence tuned_evidence(const std::string& baseline) {
  const auto study = records::with_tuned_arms(
      study_of(study_yaml(8, {"more"},
                          "tune: {key: training.schedule.peak, values: [0.001, 0.002]}\n"
                          "compare: {baseline: " +
                              baseline + ", metric: exact_match}\n")),
      {"none"});
  return make_evidence(study, runs_of({{"base", std::vector<double>(8, 0.2)},
                                       {"more", std::vector<double>(8, 0.4)},
                                       {"base-tuned", std::vector<double>(8, 0.9)},
                                       {"more-tuned", std::vector<double>(8, 0.8)}}));
}

TEST(TunedArms, AreComparedWithTheTunedBaselineAndFixedOnesWithTheFixedOne) {
  for (const char* baseline : {"base", "base-tuned"}) {
    const auto evidence = tuned_evidence(baseline);
    EXPECT_NEAR(contrast(evidence, "more").mean, 0.2, 1e-12);
    EXPECT_NEAR(contrast(evidence, "more-tuned").mean, -0.1, 1e-12);
    EXPECT_FALSE(cell_of(evidence, "base").contrast.has_value());
    EXPECT_FALSE(cell_of(evidence, "base-tuned").contrast.has_value());
    EXPECT_EQ(evidence.tasks.front().comparisons, 2);
    EXPECT_EQ(evidence.answer,
              "copy, exact match: on length 12 more (0.400) is better than base (0.200); on length "
              "12 more-tuned (0.800) is worse than base-tuned (0.900).");
  }
}

TEST(UndefinedScores, AreNeitherShownAsZeroNorCompared) {
  auto runs = runs_of({{"base", kLow}, {"a", kHigh}});
  for (auto& run : runs.results)
    for (auto& test : run.tests) test.bleu = std::nan("");
  const auto evidence = make_evidence(
      study_of(study_yaml(8, {"a"}, "compare: {baseline: base, metric: bleu}\n")), runs);
  const auto& cell = cell_of(evidence, "a", "bleu");
  EXPECT_TRUE(std::isnan(cell.sample.mean));
  EXPECT_FALSE(cell.contrast.has_value());
  EXPECT_FALSE(cell.best);
  EXPECT_EQ(evidence.answer, "No claim: there is no finished comparison.");
}

TEST(BestCell, IsTheOneWhoseMeanNoneBeatsAsItIsPrintedAndSomeFallShortOf) {
  const auto evidence =
      make_evidence(study_of(study_yaml(1, {"a", "b"}, kCompare)),
                    runs_of({{"base", {std::nan("")}}, {"a", {0.90004}}, {"b", {0.9}}},
                            {{"base", {0.3}}, {"a", {0.5}}, {"b", {0.3}}}));
  EXPECT_FALSE(cell_of(evidence, "base").best);
  EXPECT_FALSE(cell_of(evidence, "a").best) << "the others are printed alike or undefined";
  EXPECT_TRUE(cell_of(evidence, "a", "exact_match", "length 13").best);
  EXPECT_FALSE(cell_of(evidence, "b", "exact_match", "length 13").best);
}

}  // namespace
}  // namespace ablate::analysis
