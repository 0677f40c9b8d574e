#include "experiments/analysis/family.h"

#include <gtest/gtest.h>

#include "experiments/analysis/claims.h"
#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"

namespace ablate::analysis {
namespace {

TEST(Family, IsWithinTheTrainedLengthOfEveryArmWhicheverComesFirst) {
  for (const char* longer : {"base", "a"}) {
    auto runs = runs_of({{"base", kLow}, {"a", kLow}}, {{"base", kLow}, {"a", kHigh}});
    for (auto& run : runs.results)
      if (run.arm == longer) run.tests.back().extrapolates = false;
    const auto evidence = evidence_of(study_yaml(8, {"a"}, compare("allow: [data]")), runs);
    EXPECT_EQ(evidence.tasks.front().comparisons, 1) << longer;
    EXPECT_EQ(contrast(evidence, "a", "length 13").verdict, Verdict::exploratory) << longer;
  }
}

TEST(Family, IsAllTestSetsWhereNoneIsWithinTheTrainedLength) {
  auto runs = runs_of({{"base", kLow}, {"a", kHigh}});
  for (auto& run : runs.results) run.tests.erase(run.tests.begin());
  const auto evidence = evidence_of(study_yaml(8, {"a"}, kCompare), runs);
  EXPECT_EQ(evidence.tasks.front().comparisons, 1);
  EXPECT_EQ(contrast(evidence, "a", "length 13").verdict, Verdict::not_learned);
}

TEST(Family, SpansAllSizesOfATaskAlsoThoseThatAreNotSelected) {
  const auto yaml = study_yaml(6, {"a"},
                               "sizes: {small: {model.d_model: 64}, large: "
                               "{model.d_model: 128}}\n" +
                                   kCompare);
  auto runs = runs_of({{"base", std::vector(6, 0.6)}, {"a", std::vector(6, 0.9)}});
  for (auto& run : runs.results) run.task = "copy-small";
  const auto one = make_evidence(study_of(yaml, {.sizes = {"small"}}), runs);
  EXPECT_EQ(one.tasks.front().comparisons, 2);
  EXPECT_EQ(one.tasks.front().correction, Correction::holm);
  EXPECT_EQ(contrast(one, "a").verdict, Verdict::too_few_seeds);
  for (size_t i = 0, small = runs.results.size(); i < small; ++i) {
    runs.results.push_back(runs.results[i]);
    runs.results.back().task = "copy-large";
  }
  const auto both = evidence_of(yaml, runs);
  EXPECT_EQ(both.tasks.front().correction, Correction::joint);
  EXPECT_EQ(contrast(both, "a").difference.adjusted_p, 2.0 / 64);
  EXPECT_TRUE(says(both.tasks.back().family,
                   "2 primary comparisons of copy: 1 arm on length 12 in 2 "
                   "settings."));
}

const std::string kSmallAndLarge =
    "sizes: {small: {model.d_model: 64}, large: {model.d_model: 128}}\n" + kCompare;

TEST(Family, OfMarginsTakesALossOfTheMarginAsNeitherBelowNorBeyondIt) {
  // In doubles 0.5 - 0.4 is a little less than 0.1, and 0.8 - 0.7 a little more.
  for (const auto& [base, a] : {std::pair{0.5, 0.4}, std::pair{0.8, 0.7}}) {
    const auto evidence =
        evidence_of(study_yaml(8, {"a"}, compare("margin: 0.1, claim: noninferior")),
                    {{"base", std::vector<double>(8, base)}, {"a", std::vector<double>(8, a)}});
    EXPECT_EQ(contrast(evidence, "a").within.p, 1) << base;
    EXPECT_EQ(contrast(evidence, "a").beyond.p, 1) << base;
    EXPECT_EQ(contrast(evidence, "a").verdict, Verdict::worse) << base;
    EXPECT_EQ(contrast(evidence, "a").outcome, Outcome::inconclusive) << base;
    EXPECT_FALSE(contrast(evidence, "a").detectable) << "nothing scatters";
  }
}

TEST(Family, CountsASettingWithoutAFinishedRunWhereverItStands) {
  for (const char* finished : {"copy-small", "copy-large"}) {
    auto runs = runs_of({{"base", kLow}, {"a", kHigh}});
    for (auto& run : runs.results) run.task = finished;
    const auto evidence = evidence_of(study_yaml(8, {"a"}, kSmallAndLarge), runs);
    const auto& task = *std::ranges::find(evidence.tasks, finished, &TaskEvidence::name);
    EXPECT_EQ(task.comparisons, 2) << finished;
    const auto& cells = std::ranges::find(task.arms, "a", &ArmEvidence::name)->cells;
    const auto primary = std::ranges::find(cells, true, &Cell::primary);
    EXPECT_EQ(primary->contrast->difference.adjusted_p, 2 * 2.0 / 256) << finished;
  }
}

TEST(Family, CountsThePrimaryTestSetsOfEachSettingByThemselves) {
  auto runs = runs_of({{"base", kLow}, {"a", kHigh}});
  for (size_t i = 0, small = runs.results.size(); i < small; ++i) {
    runs.results[i].task = "copy-small";
    runs.results.push_back(runs.results[i]);
    runs.results.back().task = "copy-large";
    runs.results.back().tests.back().extrapolates = false;
  }
  const auto evidence = evidence_of(study_yaml(8, {"a"}, kSmallAndLarge), runs);
  for (const auto& task : evidence.tasks) {
    EXPECT_EQ(task.comparisons, 3) << task.name;
    EXPECT_EQ(task.correction, Correction::joint) << task.name;
  }
}

TEST(Family, DoesNotShrinkWithTheArmsThatAreSelectedOrFinished) {
  const auto yaml = study_yaml(8, {"a", "b", "c"}, kCompare);
  const auto runs = runs_of({{"base", kLow}, {"a", kHigh}});
  for (const auto& study : {study_of(yaml), study_of(yaml, {.arms = {"base", "a"}})})
    EXPECT_EQ(contrast(make_evidence(study, runs), "a").difference.adjusted_p, 3 * 2.0 / 256);
}

}  // namespace
}  // namespace ablate::analysis
