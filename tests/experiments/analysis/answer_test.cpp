#include "experiments/analysis/answer.h"

#include <gtest/gtest.h>

#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"

namespace ablate::analysis::answers {
namespace {

TEST(Answer, SaysTheSameOfArmsWithoutAnyDifference) {
  EXPECT_EQ(evidence_of(study_yaml(8, {"a"}, kCompare), {{"base", kHigh}, {"a", kHigh}}).answer,
            "Inconclusive: a (the same exact match as base in all 8 seeds).");
}

TEST(Answer, GivesManySentencesALineEachAndNamesWhatIsInconclusive) {
  const std::vector<std::string> arms{"a", "b", "c", "d", "e", "f"};
  const auto study = study_of(study_yaml(8, arms, kCompare));
  std::map<std::string, std::vector<double>> scores{{"base", kHigh}};
  for (const auto& arm : arms) scores.emplace(arm, kHigh);
  EXPECT_EQ(make_evidence(study, runs_of(scores)).answer, "Inconclusive: a, b, c, d, e and f.");
  for (auto& [arm, of_arm] : scores)
    if (arm != "base")
      for (auto& score : of_arm) score -= 0.3;
  const auto answer = make_evidence(study, runs_of(scores)).answer;
  EXPECT_EQ(std::ranges::count(answer, '\n'), 5) << answer;
}

TEST(Answer, GroupsManyInconclusiveComparisonsByTestSet) {
  const std::vector<std::string> arms{"a", "b", "c"};
  Scores scores{{"base", kHigh}};
  for (const auto& arm : arms) scores.emplace(arm, kHigh);
  const auto answer =
      evidence_of(study_yaml(8, arms, compare(kBothLengths)), scores, scores).answer;
  EXPECT_TRUE(says(answer, "Inconclusive: a, b and c (on length 12); a, b and c (on length 13"));
}

TEST(Answer, BeginsItsSentencesWithACapital) {
  const auto yaml = study_yaml(8, {"a"}, compare(kBothLengths));
  const Scores worse{{"base", std::vector(8, 1.0)}, {"a", kHigh}};
  const auto answer = evidence_of(yaml, worse, worse).answer;
  EXPECT_TRUE(answer.starts_with("On length 12, a: 0.100 less exact match than base")) << answer;
  EXPECT_TRUE(says(answer, "worse. On length 13 (beyond the trained length), a: 0.100"));
  EXPECT_TRUE(says(evidence_of(yaml, {{"base", kHigh}, {"a", kHigh}}, worse).answer,
                   "Inconclusive: on length 12, a (the same"));
}

TEST(Answer, SaysOnceWhatManyComparisonsOfAnArmShow) {
  const std::vector<std::string> arms{"a", "b", "c"};
  const std::vector<double> all(8, 1.0), lower(8, 0.95);
  const Scores near{{"base", all}, {"a", kHigh}, {"b", kHigh}, {"c", lower}};
  const Scores far{{"base", all}, {"a", kLow}, {"b", all}, {"c", lower}};
  const auto answer = evidence_of(study_yaml(8, arms, compare(kBothLengths)), near, far).answer;
  EXPECT_TRUE(says(answer,
                   "a: 0.100 to 0.400 less exact match than base on length 12 and on "
                   "length 13 (beyond the trained length): worse."));
}

TEST(Answer, DoesNotRoundWhatManyComparisonsShowToZero) {
  const std::vector<double> all(8, 1.0);
  const auto scores = [&](double of_a) {
    return Scores{{"base", all}, {"a", std::vector(8, of_a)}, {"b", kHigh}, {"c", kHigh}};
  };
  const auto answer = evidence_of(study_yaml(8, {"a", "b", "c"}, compare(kBothLengths)),
                                  scores(0.9997), scores(0.9996))
                          .answer;
  EXPECT_TRUE(says(answer, "a: 0.0003 to 0.0004 less exact match than base")) << answer;
}

TEST(Answer, NamesArmsWithoutAClaimBesideThoseThatHaveOne) {
  const auto study = study_of(study_yaml(8, {"a", "b", "c"}, kCompare));
  auto runs = runs_of({{"base", kHigh}, {"a", kLow}, {"b", kLow}, {"c", kLow}});
  std::erase_if(runs.results, [](const auto& run) {
    return run.arm != "base" && run.arm != "a" && run.seed == 2;
  });
  const auto answer = make_evidence(study, runs).answer;
  EXPECT_TRUE(
      answer.starts_with("a: 0.300 less exact match than base (0.300 to 0.300), in all 8 "
                         "seeds: worse. No claim on b and c: seed 2 of the arm has no value"))
      << answer;
}

TEST(Answer, GivesEveryReasonForMakingNoClaim) {
  auto runs = runs_of({{"base", {0.9, 0.9}}, {"a", {0.8, 0.7}}, {"b", {0.8, 0.7}}});
  std::erase_if(runs.results, [](const auto& run) { return run.arm == "b" && run.seed == 2; });
  const auto answer = evidence_of(study_yaml(2, {"a", "b"}, kCompare), runs).answer;
  EXPECT_TRUE(says(answer, "No claim on a: 2 seeds can show no difference"));
  EXPECT_TRUE(says(answer, "No claim on b: seed 2 of the arm has no value"));
}

}  // namespace
}  // namespace ablate::analysis::answers
