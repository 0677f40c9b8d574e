#include "experiments/analysis/notes.h"

#include <gtest/gtest.h>

#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"

namespace ablate::analysis {
namespace {

std::string notes_of(const std::string& yaml, const records::StudyRuns& runs,
                     const config::Selection& selection = {}) {
  return notes_of(make_evidence(study_of(yaml, selection), runs));
}

/// Notes of a base and an arm of two seeds, of whose initial weights the function says what is
/// known.
template <class Start>
std::string notes_with(const Start& start) {
  auto runs = runs_of({{"base", {0.5, 0.6}}, {"other", {0.7, 0.8}}});
  for (auto& run : runs.results) run.initial_weights = start(run);
  return notes_of(study_yaml(2, {"other"}, kCompare), runs);
}

TEST(Notes, SayWhatShareOfItsInitialWeightsAnArmHasInCommonWithTheBaseline) {
  const auto notes = notes_with([](const records::RunResult& run) {
    const auto seed = std::to_string(run.seed);
    return run.arm == "base"
               ? records::InitialWeights{{"embedding" + seed, 900}, {"sinusoid" + seed, 1}}
               : records::InitialWeights{{"embedding" + seed, 900}, {"learned" + seed, 100}};
  });
  EXPECT_TRUE(
      says(notes, "copy: share of the initial weights that are the baseline's: other 90 %.\n"));
  EXPECT_FALSE(says(notes, "seeds cannot")) << "the answer says that already";
}

TEST(Notes, GiveSizesWithoutTablesOfTokensIfTheseAreMuchOfAModel) {
  const auto notes = [](int64_t size_of_arm, int64_t tables) {
    auto runs = runs_of({{"base", {0.5, 0.6}}, {"other", {0.7, 0.8}}});
    for (auto& run : runs.results) {
      run.parameters = run.arm == "base" ? 13'600 : size_of_arm;
      run.table_parameters = tables;
    }
    return notes_of(study_yaml(2, {"other"}, kCompare), runs);
  };
  EXPECT_TRUE(
      says(notes(9'200, 7'000),
           "copy: tables of tokens are up to 76 % of a model. Parameters without them: base "
           "7 k of 14 k, other 2 k of 9 k.\n"));
  EXPECT_FALSE(says(notes(13'500, 7'000), "tables")) << "of one size";
  EXPECT_FALSE(says(notes(9'200, 3'000), "tables")) << "a third at most";
}

TEST(Notes, SayHowMuchOfATestSetTrainingShows) {
  auto runs = runs_of({{"base", {0.5}}, {"other", {0.7}}});
  const auto notes = [&] { return notes_of(study_yaml(1, {"other"}, kCompare), runs); };
  EXPECT_FALSE(says(notes(), "training data, too"));
  for (auto& run : runs.results) run.tests.front().in_training = 7;
  EXPECT_EQ(
      occurrences(notes(),
                  "copy: 7 of the 100 examples of length 12 are also in the training data.\n"),
      1U)
      << "of both arms, once";
}

TEST(Notes, AreSilentOnInitialWeightsThatEarlierVersionsDidNotKeep) {
  EXPECT_FALSE(says(notes_with([](const records::RunResult&) { return records::InitialWeights{}; }),
                    "initial weights"));
}

TEST(Notes, SayWhichArmsWereNotTrainedAndOnWhatTheyStand) {
  auto runs = runs_of({{"base", {0.5, 0.6}}, {"other", {0.7, 0.8}}});
  for (auto& run : runs.results) {
    run.initial_weights = {{"weights of " + run.arm, 100}};
    if (run.arm == "base") continue;
    run.steps = 0;
    run.earlier_steps = 10;
    run.weights = "last of base without encoder.layers.0.attention.1";
  }
  const auto notes = notes_of(study_yaml(2, {"other"}, kCompare), runs);
  EXPECT_TRUE(says(notes,
                   "copy: other was not trained; evaluated weights: last of base without "
                   "encoder.layers.0.attention.1.\n"));
  EXPECT_FALSE(says(notes, "base was not trained"));
  EXPECT_FALSE(says(notes, "initial weights")) << "its first weights are base's last: " << notes;
}

TEST(Notes, SayHowLongTheWeightsHadBeenTrainedThatAnArmTrainsOn) {
  auto runs = runs_of({{"base", {0.5}}, {"other", {0.7}}});
  runs.results.back().earlier_steps = 40;
  const auto all = notes_of(study_yaml(1, {"other"}, kCompare), runs);
  EXPECT_TRUE(says(all,
                   "copy: other starts from weights that had been trained for 40 steps, which "
                   "are not among its own.\n"));
  EXPECT_FALSE(says(all, "base starts"));
}

TEST(Notes, SayWhatTheDataHadLessOfOnceForAllSeeds) {
  auto runs = runs_of({{"base", {0.5, 0.6}}, {"other", {0.7, 0.8}}});
  for (auto& run : runs.results)
    if (run.arm == "other") run.shortfalls = {"the vocabulary has 29772 tokens instead of 200000"};
  const auto all = notes_of(study_yaml(2, {"other"}, kCompare), runs);
  EXPECT_EQ(occurrences(all, "copy/other: the vocabulary has 29772 tokens instead of 200000.\n"),
            1U)
      << all;
}

TEST(Notes, CountWhatTrainingCut) {
  auto runs = runs_of({{"base", {0.5}}, {"other", {0.7}}});
  for (auto& run : runs.results)
    if (run.arm == "other") {
      run.cut_sources = 2;
      run.cut_targets = 3;
    }
  const auto all = notes_of(study_yaml(1, {"other"}, kCompare), runs);
  EXPECT_TRUE(says(all,
                   "copy/other/seed-1: 2 sources and 3 targets of the training set cut at the "
                   "length limit.\n"));
  EXPECT_FALSE(says(all, "copy/base/seed-1"));
}

TEST(Notes, NameAWarmUpThatDidNotEnd) {
  auto runs = runs_of({{"base", {0.5}}, {"other", {0.7}}});
  for (auto& run : runs.results) run.steps = run.arm == "base" ? 400 : 399;
  const auto all = notes_of(study_yaml(1, {"other"}, compare("allow: [steps]")), runs);
  EXPECT_TRUE(says(all,
                   "copy/other: the warm-up takes 400 steps and the run 399, so the learning "
                   "rate never reaches its peak (training.schedule.warmup).\n"));
}

TEST(Notes, SayWhichArmsRanOnOtherHardware) {
  auto runs = runs_of({{"base", {0.5, 0.6}}, {"other", {0.7, 0.8}}});
  const auto notes = [&] { return notes_of(study_yaml(2, {"other"}, kCompare), runs); };
  for (auto& run : runs.results) run.hardware = "NVIDIA A100";
  EXPECT_FALSE(says(notes(), "hardware"));
  runs.results.back().hardware = "NVIDIA H100";
  EXPECT_TRUE(says(notes(),
                   "Arms, with how many of their runs, on NVIDIA A100: base (2), other "
                   "(1); on NVIDIA H100: other (1).\n"));
}

TEST(Notes, SayWhichArmsSawOtherNumbersOfTokensInAsManySteps) {
  auto runs = runs_of({{"base", {0.5, 0.6}}, {"large", {0.7, 0.8}}, {"alike", {0.7, 0.8}}});
  for (auto& run : runs.results)
    run.tokens = run.arm == "large" ? 2'400'000 : run.arm == "alike" ? 1'205'000 : 1'200'000;
  const auto yaml = study_yaml(2, {"large", "alike"}, kCompare);
  EXPECT_TRUE(says(notes_of(yaml, runs),
                   "copy: in the same number of steps, arms were trained on different numbers "
                   "of target tokens: large 2.40 M beside 1.20 M of base. A budget"));
  for (auto& run : runs.results) run.tokens = 1'200'000;
  EXPECT_FALSE(says(notes_of(yaml, runs), "numbers of target tokens"));
}

// 0.99 to the power of 10 is 0.904, to the power of 500 0.0066.
TEST(Notes, SayHowMuchOfTheStartAnExponentialAverageStillHas) {
  auto runs = runs_of({{"base", {0.5}}, {"other", {0.7}}});
  const auto yaml = study_yaml(1, {"other"}, kCompare);
  const config::Selection average{.sets = {"training.ema=0.99"}};
  EXPECT_TRUE(
      says(notes_of(yaml, runs, average),
           "copy/base, copy/other: after 10 steps the exponential average (training.ema: "
           "0.99) still has 90.4 % of the initial weights, since its start is not corrected.\n"));
  for (auto& run : runs.results) run.steps = 500;
  EXPECT_FALSE(says(notes_of(yaml, runs, average), "exponential"));
}

TEST(Notes, SayThatAnAverageIsOfOneCheckpointOrLacksTheLast) {
  const auto runs = runs_of({{"base", {0.5}}});
  const auto yaml = study_yaml(1, {}, "");
  const auto notes = notes_of(
      yaml, runs, {.sets = {"training.average=1", "training.save_every=3", "training.steps=10"}});
  EXPECT_TRUE(says(notes, "copy/base: the average of one checkpoint is that checkpoint.\n"));
  EXPECT_TRUE(says(notes, "training.save_every (3), so the last step, 10, is not in it.\n"));
}

TEST(Notes, SayThatAModelGuessesWorseThanByChance) {
  auto runs = runs_of({{"base", {0.5, 0.6}}});
  runs.results[1].target_vocabulary = 12;
  runs.results[1].validation_perplexity = 1e47;
  const auto notes = notes_of(study_yaml(2, {}, ""), runs);
  EXPECT_TRUE(
      says(notes, "copy/base/seed-2: the validation perplexity, 1.000e+47, is above 12, which"));
  EXPECT_FALSE(says(notes, "copy/base/seed-1: the"));
}

TEST(Notes, DoNotMissAMetricOfATaskWithoutAFinishedRun) {
  const auto yaml = study_yaml(1, {"other"}, "tasks: {copy: {}, later: {}}\n" + kCompare);
  const auto notes = notes_of(yaml, runs_of({{"base", {0.5}}, {"other", {0.7}}}));
  EXPECT_FALSE(says(notes, "not measured"));
}

TEST(Notes, SayOnceWhichSeedsWereAddedAfterAReport) {
  auto study = study_of(study_yaml(2, {"other"}, kCompare), {.seeds = {1, 2, 3}});
  const auto runs = runs_of({{"base", {0.5, 0.6, 0.7}}, {"other", {0.7, 0.8, 0.9}}});
  const auto told = [&] {
    return std::ranges::count_if(make_evidence(study, runs).notes, [](const std::string& note) {
      return note.find("added") != std::string::npos || note.find("Added") != std::string::npos;
    });
  };
  EXPECT_EQ(told(), 0) << "nobody had seen a result";
  study.late.seeds = {3};
  EXPECT_EQ(told(), 1);
  EXPECT_TRUE(notes_of(make_evidence(study, runs))
                  .starts_with("\nAdded after a report of the other seeds had been made: seed 3."));
  study.late = {.arms = {"other"}, .sizes = {"small", "large"}};
  EXPECT_TRUE(notes_of(make_evidence(study, runs))
                  .starts_with("\nAdded after a report of the others had been made: arm other; "
                               "sizes small, large. "));
}

TEST(Notes, NameABestValueThatIsTheSmallestOrTheLargestThatWasTried) {
  auto study = study_of(study_yaml(
      2, {"other"},
      kCompare + "tune: {by: shared, keys: {training.schedule.peak: [0.002, 0.001, 0.004]}}\n"));
  const auto notes_of_best = [&](std::map<std::string, config::End> at_edge) {
    study.tuning->searches = {{.task = "copy",
                               .arm = "other",
                               .tried = {{.values = {"0.004"}, .scores = {3, 4}}},
                               .chosen = {{.tried = 0, .at_edge = std::move(at_edge)}}}};
    return notes_of(make_evidence(study, runs_of({{"base", {0.5, 0.6}}})));
  };
  const std::string note = "The best training.schedule.peak is the smallest or the largest that ";
  EXPECT_FALSE(says(notes_of_best({}), note));
  EXPECT_TRUE(says(notes_of_best({{"training.schedule.peak", config::End::largest}}),
                   note + "was tried, and a better one may lie beyond, of copy/other (0.004, the "
                          "largest); "));
}

TEST(Sensitivity, IsTheMeanLossOverTheFilesValuesAboveTheBestOfAllThatWereTried) {
  auto study = study_of(study_yaml(
      2, {"other"},
      kCompare + "tune: {by: shared, keys: {training.schedule.peak: [0.001, 0.002]}}\n"));
  config::ArmSearch search{
      .task = "copy",
      .arm = "other",
      .tried = {{.values = {"0.001"}, .scores = {std::exp(3), std::exp(5)}},
                {.values = {"0.002"}, .scores = {std::exp(2), std::exp(2)}},
                {.values = {"0.004"}, .scores = {std::exp(1), std::exp(2)}, .declared = false}},
      .chosen = {{.tried = 2, .at_edge = {}}}};
  const auto sensitivity = [&] {
    study.tuning->searches = {search};
    return make_evidence(study, runs_of({{"base", {0.5, 0.6}}})).tuning->arms[0].sensitivity;
  };
  EXPECT_NEAR(sensitivity(), (4.0 + 2.0) / 2 - 1.5, 1e-12);
  search.tried[0].scores[1] = std::nan("");
  EXPECT_TRUE(std::isnan(sensitivity())) << "of a value that diverged no loss is known";
  search.chosen.front().tried.reset();
  EXPECT_TRUE(std::isnan(sensitivity()));
}

TEST(Notes, SayWhatTheScoresOfATestSetHide) {
  auto runs = runs_of({{"base", {0.5, 0.6}}, {"other", {0.7, 0.8}}});
  for (auto& run : runs.results) {
    auto& test = run.tests.front();
    if (run.arm == "base") test.unknown_targets = 0;
    if (run.arm == "other") {
      test.unknown_targets = 0.82;
      test.cut_outputs = run.seed;
      test.altered_references = 7;
      test.unwritable_references = 3;
    }
  }
  const auto all = notes_of(study_yaml(2, {"other"}, kCompare), runs);
  for (const char* sought :
       {"copy (length 12): unknown tokens among the targets: other 82 % (the most of any seed)",
        "copy (length 12): outputs cut at the greatest length: other 2 of 100",
        "copy (length 12): targets that the tokenizer writes otherwise: other 7 of 100",
        "copy (length 12): targets that the tokenizer cannot write: other 3 of 100"})
    EXPECT_TRUE(says(all, sought));
  EXPECT_FALSE(says(all, "(length 13): outputs cut"));
}

}  // namespace
}  // namespace ablate::analysis
