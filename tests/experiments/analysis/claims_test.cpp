#include "experiments/analysis/claims.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "experiments/analysis/contrast.h"
#include "experiments/analysis/family.h"
#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"

namespace ablate::analysis {
namespace {

/// The scores of eight seeds of a baseline and of arms that are the same, clearly worse, and
/// unclear.
Scores same_worse_unclear() {
  const std::vector<double> base{0.6, 0.7, 0.6, 0.7, 0.6, 0.7, 0.6, 0.7};
  std::vector<double> same = base, worse = base, unclear = base;
  for (size_t i = 0; i < base.size(); ++i) {
    same[i] += i % 2 == 0 ? 0.01 : -0.01;
    worse[i] -= 0.3 + 0.01 * static_cast<double>(i);
    unclear[i] += (i % 2 == 0 ? 0.2 : -0.2) + 0.01 * (static_cast<double>(i) - 3.5);
  }
  return {{"base", base}, {"same", same}, {"worse", worse}, {"unclear", unclear}};
}

/// A study of these arms, which are compared so.
Evidence same_worse_unclear(const std::string& comparison) {
  return evidence_of(study_yaml(8, {"same", "worse", "unclear"}, compare(comparison)),
                     same_worse_unclear());
}

TEST(Margin, AnArmIsEquivalentDifferentOrInconclusive) {
  const auto evidence = same_worse_unclear("margin: 0.1");
  const auto equal = contrast(evidence, "same");
  EXPECT_EQ(equal.verdict, Verdict::equivalent);
  EXPECT_FALSE(equal.outcome.has_value());
  // All eight are within the margin on both sides; Holm's method has three hypotheses.
  EXPECT_EQ(equal.within.p, 1.0 / 256);
  EXPECT_EQ(equal.within.adjusted_p, 3 * 1.0 / 256);
  EXPECT_EQ(equal.within_interval, statistics::equivalence_interval(equal.differences, 0.05 / 3));
  EXPECT_TRUE(equal.sentence.starts_with("equivalent to base within 0.1: difference 0.000 "));
  EXPECT_TRUE(
      says(equal.sentence, fmt::format(", by the test of the margin [{:.3f}, {:.3f}], p = 0.004 (",
                                       equal.within_interval->low, equal.within_interval->high)));
  EXPECT_EQ(contrast(evidence, "worse").verdict, Verdict::worse);
  EXPECT_EQ(contrast(evidence, "unclear").verdict, Verdict::inconclusive);
  EXPECT_TRUE(contrast(evidence, "unclear").sentence.starts_with("inconclusive: difference "));
}

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

TEST(Claims, ForecastsAreScoredAndSummedUpInANote) {
  const auto evidence = same_worse_unclear(
      "arms: {same: {forecast: [-0.1, 0.01, 0.1]}, worse: {forecast: [0, 0.1, 0.2]}}");
  EXPECT_TRUE(contrast(evidence, "same").forecast->inside);
  EXPECT_FALSE(contrast(evidence, "worse").forecast->inside);
  EXPECT_GT(contrast(evidence, "worse").forecast->brier, 0.5);
  EXPECT_FALSE(contrast(evidence, "unclear").forecast);
  EXPECT_TRUE(says(notes_of(evidence),
                   "\nForecasts: 1 of 2 differences are within their 80 % intervals, and "));
}

/// The outcome of a claim of kind `kind` with a margin of 0.1, of the three arms.
std::vector<Outcome> outcomes(const std::string& kind) {
  const auto evidence = same_worse_unclear("margin: 0.1, claim: " + kind);
  std::vector<Outcome> found;
  for (const char* arm : {"same", "worse", "unclear"})
    found.push_back(contrast(evidence, arm).outcome.value());
  return found;
}

TEST(Claims, AreDecidedByWhatTheySay) {
  using enum Outcome;
  EXPECT_EQ(outcomes("superior"), (std::vector{inconclusive, other_sign, inconclusive}));
  EXPECT_EQ(outcomes("inferior"), (std::vector{inconclusive, agrees, inconclusive}));
  EXPECT_EQ(outcomes("superior, published: 0.05"),
            (std::vector{no_effect_of_that_size, other_sign, inconclusive}));
  EXPECT_EQ(outcomes("inferior, published: -0.05"),
            (std::vector{no_effect_of_that_size, agrees, inconclusive}));
  EXPECT_EQ(outcomes("noninferior"), (std::vector{agrees, beyond_margin, inconclusive}));
  EXPECT_EQ(outcomes("equal"), (std::vector{agrees, beyond_margin, inconclusive}));
}

TEST(Claims, OfAMarginDoNotSayWhatATestOfADifferenceWouldShow) {
  for (const auto& [kind, told] : {std::pair{"superior", true},
                                   {"inferior", true},
                                   {"noninferior", false},
                                   {"equal", false}}) {
    const auto evidence = evidence_of(
        study_yaml(8, {"same"}, compare(fmt::format("margin: 0.1, claim: {}", kind))),
        {{"base", same_worse_unclear().at("base")}, {"same", same_worse_unclear().at("same")}});
    EXPECT_EQ(bool(says(contrast(evidence, "same").sentence, "about 80 % of such studies")), told)
        << kind;
  }
}

TEST(Claims, OfADifferenceAreNotContradictedByOneThatMayBeAsPublished) {
  // The mean difference is 0.0014, of both signs, and its interval reaches from -0.001 to 0.004.
  std::vector<double> arm;
  for (const double d : {0.004, -0.002, 0.005, -0.001, 0.003, -0.003, 0.004, 0.001})
    arm.push_back(0.6 + d);
  const auto found = [&](double published) {
    return contrast(evidence_of(study_yaml(8, {"a"},
                                           compare(fmt::format("margin: 0.1, claim: superior, "
                                                               "published: {}",
                                                               published))),
                                {{"base", std::vector(8, 0.6)}, {"a", arm}}),
                    "a");
  };
  EXPECT_EQ(found(0.003).outcome, Outcome::inconclusive) << "0.003 may be the true difference";
  EXPECT_EQ(found(0.02).outcome, Outcome::no_effect_of_that_size);
  EXPECT_TRUE(says(found(0.02).sentence,
                   "shows no effect of the published size, 0.02, and leaves open the claim"));
}

/// The outcome of a claim on an arm that differs from 0.6 by `difference`, give or take a little.
Outcome outcome_at(const std::string& kind, double difference) {
  std::vector<double> arm;
  for (int i = 0; i < 8; ++i) arm.push_back(0.6 + difference + 0.001 * i);
  return *contrast(evidence_of(study_yaml(8, {"a"}, compare("margin: 0.1, claim: " + kind)),
                               {{"base", std::vector(8, 0.6)}, {"a", arm}}),
                   "a")
              .outcome;
}

TEST(Claims, OfNoLossAreNeverContradictedByABetterArm) {
  EXPECT_EQ(outcome_at("noninferior", 0.3), Outcome::agrees);
  EXPECT_EQ(outcome_at("noninferior", 0.05), Outcome::agrees);
  EXPECT_EQ(outcome_at("noninferior", -0.05), Outcome::agrees) << "a loss within the margin";
  EXPECT_EQ(outcome_at("noninferior", -0.3), Outcome::beyond_margin);
}

TEST(Claims, OfEqualityAreContradictedOnlyBeyondTheMargin) {
  EXPECT_EQ(outcome_at("equal", 0.05), Outcome::agrees);
  EXPECT_EQ(outcome_at("equal", 0.3), Outcome::beyond_margin);
  EXPECT_EQ(outcome_at("equal", -0.3), Outcome::beyond_margin);
  // The eight differences lie around the margin of 0.1: clearly not 0, neither within nor beyond.
  EXPECT_EQ(outcome_at("equal", 0.0965), Outcome::inconclusive);
}

TEST(Claims, OfADifferenceThatIsShownToBeSmallerThanTheMarginAreNotAgreedWith) {
  EXPECT_EQ(outcome_at("superior", 0.05), Outcome::inconclusive);
  EXPECT_EQ(outcome_at("superior", -0.05), Outcome::other_sign);
  EXPECT_EQ(outcome_at("inferior", -0.05), Outcome::inconclusive);
}

TEST(Claims, OfSingleArmsOverrideThatOfAll) {
  const auto evidence = same_worse_unclear(
      "margin: 0.1, claim: superior, arms: {same: {claim: equal}, worse: {margin: 0.5}}");
  EXPECT_EQ(contrast(evidence, "same").outcome, Outcome::agrees);
  EXPECT_EQ(contrast(evidence, "worse").claim.kind, config::ClaimKind::superior);
  EXPECT_EQ(contrast(evidence, "worse").claim.margin, 0.5);
  EXPECT_EQ(contrast(evidence, "worse").verdict, Verdict::equivalent);
}

TEST(Equality, OfTwoArmsThatBothFailSaysNothing) {
  const auto study = study_of(study_yaml(8, {"a"}, compare("margin: 0.1, claim: equal")));
  const auto found = [&](double score) {
    const std::vector<double> same(8, score);
    return contrast(make_evidence(study, runs_of({{"base", same}, {"a", same}})), "a");
  };
  EXPECT_EQ(found(0).verdict, Verdict::not_learned);
  EXPECT_EQ(found(0).outcome, Outcome::not_learned);
  EXPECT_EQ(found(0.5).outcome, Outcome::agrees);
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

TEST(StudentsTest, ShowsWithFourSeedsWhatSignFlipsCannot) {
  const Scores scores{{"base", {0.5, 0.6, 0.5, 0.6}}, {"a", {0.81, 0.9, 0.8, 0.91}}};
  const auto verdict = [&](const std::string& test) {
    return contrast(evidence_of(study_yaml(4, {"a"}, compare("test: " + test)), scores), "a")
        .verdict;
  };
  EXPECT_EQ(verdict("sign_flip"), Verdict::too_few_seeds);
  EXPECT_EQ(verdict("t"), Verdict::better);
}

TEST(Margin, ADifferenceThatIsShownToBeSmallerThanItIsNoClaimOfADifference) {
  const auto evidence = evidence_of(study_yaml(8, {"a"}, compare("margin: 0.1")),
                                    {{"base", kLow}, {"a", std::vector(8, 0.62)}});
  EXPECT_LE(contrast(evidence, "a").difference.adjusted_p, kLevel);
  EXPECT_EQ(contrast(evidence, "a").verdict, Verdict::equivalent);
}

TEST(Margin, FourSeedsCanShowNeitherADifferenceNorEquivalence) {
  const std::vector<double> same(4, 0.5);
  const auto evidence =
      evidence_of(study_yaml(4, {"a"}, compare("margin: 0.1")), {{"base", same}, {"a", same}});
  EXPECT_EQ(contrast(evidence, "a").verdict, Verdict::too_few_seeds);
  EXPECT_EQ(contrast(evidence, "a").sentence,
            "difference 0.000; no claim: 4 seeds can show neither a difference nor that it is "
            "small; it takes 5");
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
