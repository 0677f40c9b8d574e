#include "experiments/analysis/pooled_claims.h"

#include <gtest/gtest.h>

#include "tests/experiments/analysis/synthetic.h"

namespace ablate::analysis {
namespace {

/// A study of arms that are better, within the margin and worse, which `claims` declares things of.
Evidence study_with(const std::string& claims) {
  const std::vector<double> same{0.61, 0.6, 0.59, 0.61, 0.6, 0.6, 0.59, 0.6};
  return evidence_of(study_yaml(8, {"a", "b", "c"}, compare(claims)),
                     {{"base", kLow}, {"a", kHigh}, {"b", same}, {"c", std::vector(8, 0.3)}});
}

TEST(PooledClaims, HaveThePOfTheTestThatDecidedAndTheirQAmongAllOfThem) {
  const std::vector<Evidence> studies{
      study_with("margin: 0.1, arms: {a: {claim: superior}, b: {claim: equal}, c: {claim: equal}}"),
      study_with("arms: {b: {claim: superior}, c: {claim: superior}}")};
  const auto claims = claims_of(studies);
  ASSERT_EQ(claims.size(), 5U);
  const auto& first = studies.front();
  EXPECT_EQ(claims[0].p, contrast(first, "a").difference.adjusted_p);
  EXPECT_EQ(claims[1].p, contrast(first, "b").within.adjusted_p);
  EXPECT_EQ(claims[2].p, contrast(first, "c").beyond.adjusted_p);
  EXPECT_EQ(claims[3].p, 1) << "undecided";
  EXPECT_EQ(claims[4].p, contrast(studies.back(), "c").difference.adjusted_p);
  EXPECT_EQ(claims[4].outcome, Outcome::other_sign);
  double largest = 0;
  for (const size_t i : {0, 1, 2, 4}) largest = std::max(largest, claims[i].p);
  EXPECT_EQ(claims[3].q, 1);
  for (const size_t i : {0, 1, 2, 4}) EXPECT_LE(claims[i].q, largest * 5 / 4);
}

TEST(PooledClaims, OfNoLossAreDecidedByADifferenceThatFewerSeedsCanShow) {
  const std::vector<double> low(6, 0.6), high(6, 0.9);
  const auto study =
      evidence_of(study_yaml(6, {"a", "b", "c", "d"}, compare("claim: noninferior, margin: 0.1")),
                  {{"base", low}, {"a", high}, {"b", high}, {"c", high}, {"d", high}});
  EXPECT_GT(contrast(study, "a").within.adjusted_p, 0.05) << "six seeds, and four margins by Holm";
  for (const auto& claim : claims_of(std::span(&study, 1))) {
    EXPECT_EQ(claim.outcome, Outcome::agrees);
    EXPECT_EQ(claim.p, 2.0 / 64);
    EXPECT_EQ(claim.q, 2.0 / 64);
  }
}

TEST(PooledClaims, LeaveOutWhatIsOutsideTheSourcesRangeAndWhatWasNotLearned) {
  auto study = study_with("claim: superior");
  auto& arms = study.tasks.front().arms;
  const auto contrast_in = [&](size_t arm) -> Contrast& { return *arms[arm].cells[0].contrast; };
  ASSERT_EQ(claims_of(std::span(&study, 1)).size(), 3U);
  contrast_in(1).outside = {"Depth: here 2, in the source 90."};
  contrast_in(2).outcome = Outcome::not_learned;
  const auto claims = claims_of(std::span(&study, 1));
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_EQ(claims.front().arm, "c");
}

TEST(FalseAlarms, AreTheControlsThatAreShownToDiffer) {
  auto study = study_with("claim: superior");
  EXPECT_FALSE(false_alarms_of(std::span(&study, 1)).has_value()) << "no control";
  auto& arms = study.tasks.front().arms;
  for (size_t i : {1, 2, 3}) arms[i].control = true;
  arms[3].cells[0].contrast->verdict = Verdict::unstable;
  const auto found = false_alarms_of(std::span(&study, 1)).value();
  EXPECT_EQ(found.controls, 2);
  EXPECT_EQ(found.alarms, 1);
  EXPECT_EQ(found.interval, statistics::exact_interval(1, 2));
  EXPECT_EQ(false_alarms_of(std::vector{study, study})->controls, 2) << "the same runs";
  EXPECT_TRUE(claims_of(std::span(&study, 1)).empty()) << "nothing is claimed of controls";
}

}  // namespace
}  // namespace ablate::analysis
