#include "experiments/analysis/pooled.h"

#include <gtest/gtest.h>

#include <cmath>

#include "experiments/analysis/claims.h"
#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"

namespace ablate::analysis {
namespace {

constexpr double kRounding = 1e-12;
constexpr int kSeeds = 6;
const std::string kOver = "compare: {baseline: base, metric: exact_match, control: false, over: ";
const std::string kMean = "lengths 2 to 16";

/// Exact match by length, of the baseline.
using ByLength = std::vector<std::pair<int64_t, double>>;
const ByLength kThree{{16, 0.3}, {2, 0.9}, {4, 0.6}};

std::string yaml(const std::string& compare, const std::vector<std::string>& arms = {"a"}) {
  return replaced(study_yaml(kSeeds, arms, compare), "[12, 13]", "[16, 2, 4]");
}

/// A run with these scores and `more`; lengths above 12 are beyond the trained one.
records::RunResult run_with(const std::string& task, const std::string& arm, int64_t seed,
                            const ByLength& scores, double more = 0) {
  auto run = result_of(arm, seed, 0);
  auto test = run.tests.front();
  run.task = task;
  run.tests.clear();
  for (const auto& [length, score] : scores) {
    test.name = "length " + std::to_string(length);
    test.length = length;
    test.unit = "symbols";
    test.extrapolates = length > 12;
    test.exact_match = score + more;
    run.tests.push_back(test);
  }
  return run;
}

/// Every seed of `base`, and of the arm `a` which is better by a little more in each seed.
records::StudyRuns runs_in(const std::vector<std::string>& tasks, const ByLength& scores = kThree) {
  records::StudyRuns runs{.folder = {"none/s"}};
  for (const auto& task : tasks)
    for (int64_t seed = 1; seed <= kSeeds; ++seed) {
      runs.results.push_back(run_with(task, "base", seed, scores));
      runs.results.push_back(run_with(task, "a", seed, scores, 0.01 * static_cast<double>(seed)));
    }
  return runs;
}

Evidence over(const std::string& key, const ByLength& scores = kThree) {
  return evidence_of(yaml(kOver + key + "}\n"), runs_in({"copy"}, scores));
}

TEST(OverLengths, TheNumberOfASeedIsTheMeanOfItsLengths) {
  const auto evidence = over("lengths");
  const auto cell = cell_of(evidence, "a", "exact_match", kMean);
  ASSERT_EQ(cell.sample.count, kSeeds);
  EXPECT_NEAR(cell.sample.values[2], (0.93 + 0.63 + 0.33) / 3, kRounding);
  EXPECT_NEAR(cell.contrast->mean, 0.035, kRounding);
  EXPECT_EQ(cell.over, config::Over::lengths);
}

TEST(OverLengths, TheAreaOverLogLengthIsOfTrapezoids) {
  const auto evidence = over("log_lengths");
  // Between 2, 4 and 16 there are one and two octaves, with the means 0.75 and 0.45.
  EXPECT_NEAR(cell_of(evidence, "base", "exact_match", "log " + kMean).sample.mean,
              (0.75 * 1 + 0.45 * 2) / 3, kRounding);
  EXPECT_TRUE(says(evidence.tasks.front().family, "The area over log length is compared"));
}

TEST(OverLengths, ScoresInAnotherOrderHaveTheSameMean) {
  records::StudyRuns runs{.folder = {"none/s"}};
  for (int64_t seed = 1; seed <= kSeeds; ++seed) {
    runs.results.push_back(run_with("copy", "base", seed, {{2, 0.1}, {4, 0.2}, {8, 0.3}}));
    runs.results.push_back(run_with("copy", "a", seed, {{2, 0.3}, {4, 0.2}, {8, 0.1}}));
  }
  const auto evidence = evidence_of(yaml(kOver + "lengths}\n"), runs);
  const auto& contrast = *cell_of(evidence, "a", "exact_match", "lengths 2 to 8").contrast;
  EXPECT_EQ(contrast.mean, 0) << "the sums differ in their last bit";
  EXPECT_EQ(contrast.difference.p, 1);
  EXPECT_EQ(contrast.improvement, 0.5);
  EXPECT_EQ(contrast.verdict, Verdict::inconclusive);
}

TEST(OverLengths, TheyAreOneComparisonAndEachByItselfIsExploratory) {
  const auto evidence = over("lengths");
  EXPECT_EQ(evidence.tasks.front().comparisons, 1);
  const auto compared = contrast(evidence, "a", kMean);
  EXPECT_EQ(compared.verdict, Verdict::better);
  EXPECT_EQ(compared.difference.adjusted_p, 2.0 / 64);
  for (const char* length : {"length 2", "length 4", "length 16"})
    EXPECT_EQ(contrast(evidence, "a", length).verdict, Verdict::exploratory);
  EXPECT_EQ(evidence.tasks.front().family,
            "The p values are of the one primary comparison of copy: 1 arm over lengths 2 to 16. "
            "The mean over the lengths is compared. The other test sets are exploratory: their "
            "differences are shown, not tested.");
  EXPECT_EQ(evidence.answer,
            "Over lengths 2 to 16, a: 0.035 more exact match than base (0.010 to 0.060), in all 6 "
            "seeds: better.");
}

TEST(OverLengths, AnExpectationWithoutATestSetIsOfTheMean) {
  const auto study = yaml(kOver + "lengths}\n") +
                     "expect: [base.exact_match within 0.001 of 0.6,"
                     " 'base.exact_match[length 16] within 0.001 of 0.3']\n";
  for (const auto& expectation : evidence_of(study, runs_in({"copy"})).expectations)
    EXPECT_TRUE(expectation.holds) << expectation.text << ": " << expectation.numbers;
}

TEST(OverLengths, TestSetsChooseThem) {
  const auto evidence = over("lengths, test_sets: {copy: [length 2, length 4]}");
  const auto cell = cell_of(evidence, "base", "exact_match", "lengths 2 to 4");
  EXPECT_NEAR(cell.sample.mean, 0.75, kRounding);
  EXPECT_FALSE(cell.extrapolates);
  EXPECT_EQ(cell_within(arm_of(evidence, "base"), "exact_match")->test_set, "length 2")
      << "a test set by itself shows whether the task is learned";
}

TEST(OverLengths, ASeedThatLacksALengthHasNoNumber) {
  auto runs = runs_in({"copy"});
  runs.results.back().tests.pop_back();  // of the arm's last seed
  const auto evidence = evidence_of(yaml(kOver + "lengths}\n"), runs);
  EXPECT_EQ(cell_of(evidence, "a", "exact_match", kMean).sample.count, kSeeds - 1);
  EXPECT_EQ(contrast(evidence, "a", kMean).verdict, Verdict::uneven);
}

TEST(OverLengths, BeyondTheTrainedLengthBothArmsMustHaveLearnedTheTask) {
  const ByLength unlearned{{2, 0.8}, {16, 0.3}}, learned{{2, 0.9}, {16, 0.3}};
  const auto refused = over("lengths", unlearned);
  EXPECT_EQ(contrast(refused, "a", kMean).verdict, Verdict::not_learned);
  EXPECT_TRUE(says(refused.answer, "base (exact match 0.800 on length 2) did not learn"));
  EXPECT_EQ(contrast(over("lengths", learned), "a", kMean).verdict, Verdict::better);
  const ByLength within{{2, 0.8}, {4, 0.3}};
  EXPECT_EQ(contrast(over("lengths", within), "a", "lengths 2 to 4").verdict, Verdict::better);
}

TEST(OverLengths, SizesHaveALadderOfTheMeans) {
  const auto sizes = yaml(kOver + "lengths}\nsizes: {s: {model.d_model: 64}, l: {}}\n");
  const auto evidence = evidence_of(sizes, runs_in({"copy-s", "copy-l"}));
  ASSERT_EQ(evidence.ladders.size(), 1U);
  EXPECT_EQ(evidence.ladders.front().test_set, kMean);
  EXPECT_NEAR(evidence.ladders.front().arms.back().effects.front().mean, 0.035, kRounding);
  EXPECT_EQ(evidence.tasks.front().comparisons, 2);
}

std::string over_tasks_yaml(const std::string& more = "", const std::string& compare = "}\n") {
  return yaml("tasks: {copy: {}, reverse: {data: {task: reverse, test_length: [4, 2]}}}\n" + more +
                  kOver + "tasks" + compare,
              {"a", "b"});
}

/// Of copy one test set is primary, and of reverse two.
records::StudyRuns runs_of_two_tasks() {
  auto runs = runs_in({"copy"}, {{2, 0.2}, {16, 0.9}});
  for (auto& run : runs_in({"reverse"}, {{2, 0.6}, {4, 0.8}}).results)
    runs.results.push_back(std::move(run));
  return runs;
}

TEST(OverTasks, TheNumberOfASeedIsTheMeanOfTheTasksPrimaryNumbers) {
  const auto evidence = evidence_of(over_tasks_yaml(), runs_of_two_tasks());
  const auto& all = evidence.tasks.front();
  EXPECT_EQ(all.name, kAllTasks);
  EXPECT_EQ(all.parts, (std::vector<std::string>{"copy", "reverse"}));
  EXPECT_NEAR(cell_of(evidence, "base", "exact_match", "2 tasks").sample.mean,
              (0.2 + (0.6 + 0.8) / 2) / 2, kRounding);
  EXPECT_EQ(arm_of(evidence, "base").parameters, 1234);
  EXPECT_EQ(arm_of(evidence, "base").steps.mean, 20);
}

TEST(OverTasks, WhatIsNotFinishedOrNotSummedHasNoNumber) {
  auto runs = runs_of_two_tasks();
  std::erase_if(runs.results,
                [](const auto& run) { return run.task == "reverse" && run.arm == "a"; });
  const auto evidence = evidence_of(over_tasks_yaml(), runs);
  EXPECT_EQ(arm_of(evidence, "a").parameters, 1234) << "the mean of one task";
  const auto& memory = arm_of(evidence, "base").memory_bytes;
  EXPECT_EQ(memory.values.size(), static_cast<size_t>(kSeeds));
  EXPECT_TRUE(std::isnan(memory.mean));
}

TEST(OverTasks, TheArmsAreTheFamilyAndEachTaskByItselfIsExploratory) {
  const auto evidence = evidence_of(over_tasks_yaml(), runs_of_two_tasks());
  EXPECT_EQ(evidence.tasks.front().comparisons, 2);
  EXPECT_EQ(contrast(evidence, "a", "2 tasks").difference.p, 2.0 / 64);
  EXPECT_EQ(contrast(evidence, "a", "2 tasks").difference.adjusted_p, 2 * 2.0 / 64)
      << "by Holm's method, since b has not finished";
  for (size_t task = 1; task < evidence.tasks.size(); ++task)
    for (const auto& cell : evidence.tasks[task].arms[1].cells)
      EXPECT_TRUE(!cell.contrast || cell.contrast->verdict == Verdict::exploratory);
  EXPECT_TRUE(says(evidence.tasks.front().family,
                   "of all tasks: 2 arms over 2 tasks. The mean over the tasks is compared; each "
                   "task by itself is exploratory."));
  EXPECT_EQ(count_declared_tasks(evidence.tasks), 2);
}

TEST(OverTasks, TheControlIsOneOfTheArms) {
  const auto text = replaced(over_tasks_yaml(), "control: false", "control: true");
  const auto evidence = evidence_of(text, runs_of_two_tasks());
  EXPECT_EQ(evidence.tasks.front().comparisons, 3);
  EXPECT_TRUE(arm_of(evidence, "control").control);
}

TEST(OverTasks, TheAnswerIsOfAllOfThem) {
  auto runs = runs_of_two_tasks();
  const auto evidence = make_evidence(study_of(over_tasks_yaml(), {.arms = {"base", "a"}}), runs);
  EXPECT_TRUE(says(evidence.answer, "No claim"));
  for (size_t i = 0, finished = runs.results.size(); i < finished; ++i)
    if (runs.results[i].arm == "a") {
      runs.results.push_back(runs.results[i]);
      runs.results.back().arm = "b";
    }
  EXPECT_TRUE(says(evidence_of(over_tasks_yaml(), runs).answer,
                   "all tasks, a: 0.035 more exact match than base (0.010 to 0.060), in all 6 "
                   "seeds: better."));
}

TEST(OverTasks, BeyondTheTrainedLengthOfATaskBothArmsMustHaveLearnedIt) {
  const auto beyond = over_tasks_yaml("", ", test_sets: {copy: [length 16]}}\n");
  const auto evidence = evidence_of(beyond, runs_of_two_tasks());
  EXPECT_EQ(contrast(evidence, "a", "2 tasks").verdict, Verdict::not_learned);
  EXPECT_TRUE(says(contrast(evidence, "a", "2 tasks").sentence,
                   "base (exact match 0.200 on length 2 of copy) did not learn"));
}

TEST(OverTasks, NothingIsComparedIfOneIsNotSelected) {
  const auto evidence =
      make_evidence(study_of(over_tasks_yaml(), {.tasks = {"copy"}}), runs_of_two_tasks());
  EXPECT_EQ(evidence.tasks.size(), 1U);
  EXPECT_TRUE(says(evidence.answer, "No claim"));
  EXPECT_TRUE(says(evidence.notes.back(), "and one is not selected"));
}

TEST(OverTasks, SizesHaveALadderOfTheMeans) {
  auto runs = runs_in({"copy-s", "copy-l", "reverse-s"});
  const auto study = study_of(over_tasks_yaml("sizes: {s: {model.d_model: 64}, l: {}}\n"));
  for (auto& run : runs_in({"reverse-l"}).results) runs.results.push_back(std::move(run));
  const auto evidence = make_evidence(study, runs);
  EXPECT_EQ(evidence.tasks.front().name, "all tasks-s");
  EXPECT_EQ(evidence.tasks.front().comparisons, 4) << "two arms in two sizes";
  ASSERT_EQ(evidence.ladders.size(), 1U);
  EXPECT_EQ(evidence.ladders.front().task, kAllTasks);
  EXPECT_NEAR(evidence.ladders.front().arms[1].effects.back().mean, 0.035, kRounding);
}

}  // namespace
}  // namespace ablate::analysis
