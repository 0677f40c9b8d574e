#include "experiments/analysis/expectation.h"

#include <gtest/gtest.h>

#include "experiments/errors.h"
#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"

namespace ablate::analysis {
namespace {

Expectation checked(const std::string& claim) {
  return evidence_of(study_yaml(2, {"more"}, "expect: [\"" + claim + "\"]\n"),
                     {{"base", {0.9, 1.0}}, {"more", {0.4, 0.6}}},
                     {{"base", {0.2, 0.2}}, {"more", {0, 0}}})
      .expectations.front();
}

TEST(Expectation, ComparesMeansOverSeeds) {
  EXPECT_TRUE(checked("base.exact_match >= 0.95").holds);
  EXPECT_FALSE(checked("base.exact_match > 0.95").holds);
  EXPECT_TRUE(checked("more.exact_match <= 0.5").holds);
  EXPECT_FALSE(checked("more.exact_match < 0.5").holds);
  EXPECT_TRUE(checked("copy: more.exact_match < 0.53 * base.exact_match").holds);
  EXPECT_FALSE(checked("copy: more.exact_match < 0.52 * base.exact_match").holds);
  EXPECT_TRUE(checked("more.exact_match within 0.46 of base.exact_match").holds);
  EXPECT_FALSE(checked("more.exact_match within 0.44 of base.exact_match").holds);
  EXPECT_TRUE(checked("0.5 * base.exact_match < more.exact_match").holds);
}

// In doubles the sum of 0.6, 0.7 and 0.8 over 3 is 0.6999999999999998, that of 0.8, 0.7 and 0.6 is
// 0.7000000000000001, and 0.8 - 0.7 is greater than 0.1.
TEST(Expectation, AtABoundIsNotDecidedByRounding) {
  const auto holds = [](const std::string& claim) {
    return evidence_of(study_yaml(3, {"more"}, "expect: [\"" + claim + "\"]\n"),
                       {{"base", {0.6, 0.7, 0.8}}, {"more", {0.8, 0.7, 0.6}}})
        .expectations.front()
        .holds;
  };
  EXPECT_TRUE(holds("base.exact_match >= 0.7"));
  EXPECT_TRUE(holds("base.exact_match >= more.exact_match"));
  EXPECT_TRUE(holds("more.exact_match <= 0.7"));
  EXPECT_FALSE(holds("more.exact_match > 0.7"));
  EXPECT_FALSE(holds("base.exact_match < 0.7"));
  EXPECT_FALSE(holds("base.exact_match < more.exact_match"));
  EXPECT_TRUE(holds("base.exact_match within 0.1 of 0.8"));
  EXPECT_FALSE(holds("base.exact_match within 0.0999999 of 0.8"));
  EXPECT_FALSE(holds("base.exact_match >= 0.7000001"));
}

TEST(Expectation, NamesATestSetOrMeansTheFirst) {
  EXPECT_TRUE(checked("base.exact_match[length 13] <= 0.2").holds);
  EXPECT_FALSE(checked("base.exact_match[length 12] <= 0.2").holds);
  EXPECT_FALSE(checked("base.exact_match <= 0.2").holds);
}

TEST(Expectation, SaysTheNumbersThatWereCompared) {
  EXPECT_EQ(checked("more.exact_match < 0.5 * base.exact_match").numbers,
            "0.500 < 0.5 * 0.950 = 0.475");
  EXPECT_EQ(checked("more.exact_match within 0.05 of base.exact_match").numbers,
            "0.500 within 0.05 of 0.950");
}

TEST(Expectation, WhatWasNotMeasuredDoesNotHold) {
  auto runs = runs_of({{"base", {0.9}}, {"more", {0.4}}});
  for (auto& run : runs.results) run.tests.pop_back();
  const auto study =
      study_of(study_yaml(1, {"more"}, "expect: ['more.exact_match[length 13] < 1']\n"));
  const auto missing = make_evidence(study, runs).expectations.front();
  EXPECT_FALSE(missing.holds);
  EXPECT_EQ(missing.numbers, "more.exact_match[length 13] is missing");
}

TEST(Expectation, AFailedOneIsAnErrorWithItsNumbers) {
  EXPECT_NO_THROW(raise_failed({{"a", true, "1 < 2"}}));
  EXPECT_EQ(refusal_of<ExpectationFailed>([&] {
              raise_failed({{"a", true, "1 < 2"}, {"b", false, "3 < 2"}});
            }),
            "expectations of the study do not hold:\n  b: 3 < 2");
}

TEST(Expectation, OfArmsThatAreNotSelectedIsLeftOut) {
  const auto yaml = study_yaml(1, {"more"}, "expect: [base.bleu < 1, base.bleu < more.bleu]\n");
  EXPECT_EQ(study_of(yaml).expect.size(), 2U);
  EXPECT_EQ(study_of(yaml, {.arms = {"base"}}).expect.size(), 1U);
}

TEST(Answer, NamesABaselineThatIsNotAmongTheSelectedArms) {
  const auto yaml = study_yaml(2, {"more"}, kCompare);
  const auto runs = runs_of({{"base", {0.9, 1.0}}, {"more", {0.4, 0.6}}});
  EXPECT_EQ(make_evidence(study_of(yaml, {.arms = {"more"}}), runs).answer,
            "No claim: the baseline base is not among the selected arms.");
  EXPECT_EQ(evidence_of(study_yaml(2, {"more"}), runs).answer,
            "No claim: the study declares no baseline.");
}

}  // namespace
}  // namespace ablate::analysis
