#include <cmath>

#include "experiments/records/frozen_study.h"
#include "experiments/report/write_report.h"
#include "experiments/schedule/study_status.h"
#include "tests/experiments/schedule/tuning_study.h"
#include "tests/says.h"
#include "training/storage/durable_file.h"

namespace ablate::schedule {
namespace {

TEST_F(TuningTest, TheArmHasTheBestMeanOverTheTuningSeeds) {
  finish_trials({{"1.0e-3", 9}});
  finish("base-peak=0.002", 8, 6);
  finish("base-peak=0.002", 9, 3);
  finish_trials({{"4.0e-3", 5}});
  EXPECT_EQ(chosen(), "2.0e-3");
  const auto found = search();
  EXPECT_EQ(found.tried[1].scores, (std::vector<std::optional<double>>{6, 3}));
  EXPECT_TRUE(found.chosen.front().at_edge.empty());
  const auto study = tuned();
  EXPECT_EQ(study.arms, std::vector<std::string>{"base"});
  ASSERT_EQ(study.runs.size(), 3U);
  for (const auto& run : study.runs) {
    EXPECT_EQ(run.arm, "base");
    EXPECT_EQ(run.waits, "");
    EXPECT_EQ(peak_of(run), 2e-3);
    EXPECT_EQ(run.origins.at("training.schedule.peak"), "tiny.yaml:21");
  }
  EXPECT_EQ(next(), "base:1 base:2 base:3 ");
}

TEST_F(TuningTest, EverySeedHasTheBestValueOfASearchOfItsOwn) {
  write_file(study(), untuned_ +
                          "tune: { keys: { training.schedule.peak: [1.0e-3, 2.0e-3, 4.0e-3] }, "
                          "extend: 0 }\n");
  finish("base-peak=0.001", 101, 9);
  finish("base-peak=0.002", 101, 3);
  finish("base-peak=0.004", 101, 5);
  finish("base-peak=0.001", 102, 3);
  finish("base-peak=0.002", 102, 6);
  finish("base-peak=0.004", 102, 9);
  finish("base-peak=0.001", 103, 9);
  const auto study = tuned();
  ASSERT_EQ(study.runs.size(), 3U);
  EXPECT_EQ(peak_of(study.runs[0]), 2e-3);
  EXPECT_EQ(peak_of(study.runs[1]), 1e-3);
  EXPECT_EQ(study.runs[0].waits + study.runs[1].waits, "");
  EXPECT_EQ(study.runs[2].waits, "not started: its best values are still searched for");
  EXPECT_EQ(next(), "base-peak=0.002:103 base-peak=0.004:103 base:1 base:2 ");
  const auto found = search();
  ASSERT_EQ(found.chosen.size(), 3U);
  EXPECT_EQ(found.tried[found.chosen[0].tried.value()].values.front(), "2.0e-3");
  EXPECT_EQ(found.tried[found.chosen[1].tried.value()].values.front(), "1.0e-3");
  EXPECT_TRUE(found.chosen[0].at_edge.empty());
  EXPECT_EQ(found.chosen[1].at_edge.size(), 1U);
  EXPECT_FALSE(found.chosen[2].tried);
  EXPECT_EQ(found.open, 2);
  EXPECT_EQ(found.tried[0].scores, (std::vector<std::optional<double>>{9, 3, 9}));
  EXPECT_EQ(found.tried[1].scores, (std::vector<std::optional<double>>{3, 6, std::nullopt}));
  EXPECT_EQ(config::mean_score(found.tried[1]), 4.5);
  EXPECT_EQ(config::chosen_score(found), 3);
}

TEST_F(TuningTest, ScoresOfTheStudysSeedsPlayNoPart) {
  finish_trials({{"1.0e-3", 9}, {"2.0e-3", 3}, {"4.0e-3", 5}});
  for (const int64_t seed : {1, 2, 3}) finish("base-peak=0.004", seed, 1);
  EXPECT_EQ(chosen(), "2.0e-3");
}

TEST_F(TuningTest, NothingOfTheArmStartsOrCountsBeforeItsValuesAreKnown) {
  finish_trials({{"1.0e-3", 9}, {"2.0e-3", 3}});
  finish("base-peak=0.004", 8, 5);
  finish("base", 1, 1);  // by other values than the search will choose
  EXPECT_EQ(chosen(), "");
  EXPECT_EQ(next(), "base-peak=0.004:9 ");
  const auto runs = records::read_runs(tuned(), folder_ / "tiny");
  EXPECT_TRUE(runs.results.empty());
  ASSERT_EQ(runs.missing.size(), 3U);
  EXPECT_EQ(runs.missing.front().reason, "not started: its best values are still searched for");
}

TEST_F(TuningTest, ABestValueAtAnEndContinuesItsListByTheSameRatio) {
  finish_trials({{"1.0e-3", 9}, {"2.0e-3", 6}, {"4.0e-3", 5}});
  EXPECT_EQ(next(), "base-peak=0.008:8 base-peak=0.008:9 ");
  finish_trials({{"0.008", 4}});
  EXPECT_EQ(next(), "base-peak=0.016:8 base-peak=0.016:9 ");
  EXPECT_EQ(chosen(), "");
  finish_trials({{"0.016", 4.5}});
  EXPECT_EQ(chosen(), "0.008");
  const auto found = search();
  EXPECT_TRUE(found.chosen.front().at_edge.empty());
  ASSERT_EQ(found.tried.size(), 5U);
  EXPECT_TRUE(found.tried[2].declared);
  EXPECT_FALSE(found.tried[3].declared);
}

TEST_F(TuningTest, ABestValueThatIsStillAtAnEndIsMarked) {
  finish_trials({{"1.0e-3", 2}, {"2.0e-3", 3}, {"4.0e-3", 4}, {"0.0005", 1.5}, {"0.00025", 1.2}});
  EXPECT_EQ(chosen(), "0.00025") << "the list is continued twice and no further";
  EXPECT_EQ(
      search().chosen.front().at_edge,
      (std::map<std::string, config::End>{{"training.schedule.peak", config::End::smallest}}));
  tune("[1.0e-3, 2.0e-3, 4.0e-3]", "extend: 0");
  EXPECT_EQ(chosen(), "1.0e-3");
  EXPECT_EQ(search().chosen.front().at_edge.size(), 1U);
}

TEST_F(TuningTest, AValueThatTheConfigurationRefusesEndsTheList) {
  write_file(study(),
             untuned_ + "tune: { by: shared, keys: { model.dropout: [0.4, 0.8] }, seeds: [9] }\n");
  finish("base-dropout=0.4", 9, 3);
  finish("base-dropout=0.8", 9, 2);
  EXPECT_EQ(chosen(), "0.8") << "1.6 is no dropout";
  EXPECT_EQ(search().chosen.front().at_edge.size(), 1U);
}

TEST_F(TuningTest, EveryCombinationWithAFurtherValueIsTried) {
  write_file(study(),
             untuned_ +
                 "tune: { by: shared, keys: { training.schedule.peak: [1.0e-3, 2.0e-3, 4.0e-3], "
                 "model.norm.kind: [layer, rms] }, seeds: [9] }\n");
  for (const char* peak : {"1.0e-3", "2.0e-3", "4.0e-3"})
    for (const char* norm : {"layer", "rms"})
      finish(candidate(peak) + "-kind=" + norm, 9,
             std::string(peak) == "4.0e-3" && std::string(norm) == "rms" ? 1 : 2);
  EXPECT_EQ(next(), "base-peak=0.008-kind=layer:9 base-peak=0.008-kind=rms:9 ");
}

TEST_F(TuningTest, TokenAccuracyIsBetterIfItIsHigher) {
  tune("[1.0e-3, 2.0e-3, 4.0e-3]", "metric: token_accuracy");
  finish_trials({{"1.0e-3", 0.2}, {"2.0e-3", 0.9}, {"4.0e-3", 0.5}});
  EXPECT_EQ(chosen(), "2.0e-3");
}

TEST_F(TuningTest, ADivergedValueIsTheWorst) {
  finish_trials({{"1.0e-3", 9}, {"2.0e-3", 8}});
  finish("base-peak=0.004", 8, 1);
  fail("4.0e-3", 9, 5);
  EXPECT_EQ(chosen(), "2.0e-3");
  EXPECT_TRUE(std::isnan(search().tried[2].scores[1].value()));
  clear_earlier_start(config::read_study(study()), folder_ / "tiny");
  EXPECT_EQ(chosen(), "2.0e-3") << "its score is known, so that it is not run again";
}

TEST_F(TuningTest, AnArmWhoseValuesAllDivergeFails) {
  for (const char* peak : {"1.0e-3", "2.0e-3", "4.0e-3"})
    for (const int64_t seed : {8, 9}) fail(peak, seed, 5);
  const auto study = config::read_study(this->study());
  EXPECT_EQ(next(), "");
  const auto outcome = outcome_of(study, folder_ / "tiny");
  ASSERT_EQ(outcome.failed.size(), 1U);
  EXPECT_EQ(outcome.failed[0].label, "copy/base");
  EXPECT_EQ(outcome.failed[0].why,
            "every combination of tune.keys diverged on a tuning seed; give other values");
  EXPECT_EQ(outcome.failed[0].exit_code, 5);
  EXPECT_FALSE(outcome.interrupted);
  EXPECT_EQ(records::read_runs(tuned(), folder_ / "tiny").missing.front().reason,
            "every combination of tune.keys diverged on a tuning seed");
}

TEST_F(TuningTest, OnlyAValueThatDivergesIsGivenUpForAFailure) {
  finish_trials({{"1.0e-3", 9}, {"2.0e-3", 5}});
  finish("base-peak=0.004", 8, 1);
  for (const int exit_code : {1, 2, 3, 4, 6, 7, 8, 75, 128 + SIGKILL, 128 + SIGSEGV}) {
    fail("4.0e-3", 9, exit_code);
    EXPECT_EQ(chosen(), "") << exit_code;
  }
  fail("4.0e-3", 9, 5);
  EXPECT_EQ(chosen(), "2.0e-3");
}

TEST_F(TuningTest, ARenamedStudyIsSearchedInItsOwnFolder) {
  finish_trials({{"1.0e-3", 9}, {"2.0e-3", 3}, {"4.0e-3", 5}});
  finish("base", 1, 3);
  records::freeze(study(), {}, folder_ / "frozen");
  std::filesystem::rename(folder_ / "tiny", folder_ / "renamed");
  for (const auto* file : {"study.yaml", "command.json"})
    std::filesystem::copy(folder_ / "frozen/tiny" / file, folder_ / "renamed");
  finish_trials({{"1.0e-3", 1}});  // of another study that took the name
  const auto tuned = records::read_frozen(folder_ / "renamed");
  EXPECT_EQ(peak_of(tuned.runs.back()), 2e-3);
  EXPECT_EQ(records::read_runs(tuned, folder_ / "renamed").results.size(), 1U);
}

TEST_F(TuningTest, AFailedWriteLetsNoOtherValueBeChosen) {
  tune("[1.0e-9, 3.0e-3]", "extend: 0");
  const auto obstacle = folder_ / "out/tiny/copy/base-peak=0.003/seed-8/initial_weights.json";
  std::filesystem::create_directories(obstacle);  // no file can take its place
  EXPECT_TRUE(ends(shell(command("out")), 7));
  const auto results = [&] {
    const auto study = records::read_frozen(folder_ / "out/tiny");
    return records::read_runs(study, folder_ / "out/tiny").results.size();
  };
  EXPECT_EQ(results(), 0U);
  std::filesystem::remove(obstacle);
  EXPECT_TRUE(ends(shell(command("out")), 0));
  EXPECT_EQ(results(), 3U);
}

TEST_F(TuningTest, WhatAnEarlierStartLeftOfAnyValueIsRemoved) {
  const auto folder = folder_of("base-peak=0.001", 9);
  fail("1.0e-3", 9, 7);
  write_file(training::temporary_beside(folder / "environment.json"), "{");
  clear_earlier_start(config::read_study(study()), records::StudyFolder(folder_ / "tiny"));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(TuningTest, TheDryRunAndTheListCountTheTrialRuns) {
  search_from_nothing();
  const auto dry = shell(command("out", "--dry-run"));
  EXPECT_TRUE(says(dry.output, "\n8 runs to do"));
  EXPECT_TRUE(says(dry.output,
                   "6 of the runs listed look for the best training.schedule.peak on the "
                   "seeds 8, 9. If a best value is the smallest or the largest of its "
                   "list,\nmore follow: at most 2 for each task and arm (tune.extend)."));
  const auto list = shell(command("out", "--list"));
  EXPECT_EQ(lines_of(list.output).size(), 8U) << list.output;

  const auto runs = json_lines(shell(command("out", "--dry-run --json")).output);
  ASSERT_EQ(runs.size(), 8U);
  EXPECT_EQ(runs.front().at("estimate").at("test_seconds"), 0);
  EXPECT_GT(runs.back().at("estimate").at("test_seconds"), 0);
}

TEST_F(TuningTest, TheCheckAndTheStatusCountTheTrialRuns) {
  EXPECT_TRUE(says(program("config", "check", study()).output,
                   "3 seeds: a search of 6 trials (more if a best value is at an end of its list), "
                   "then 3 runs\n"));
  finish_trials({{"1.0e-3", 9}});
  fail("2.0e-3", 8, 5);  // diverged: it has its score
  const auto tuned = config::read_study(study());
  const auto progress = records::progress_of(tuned, records::StudyFolder(folder_ / "tiny"));
  EXPECT_EQ(records::progress_words(progress), "search: 3 of 6 trials; then 3 runs");
  const auto all = status_of(tuned, records::StudyFolder(folder_ / "tiny"), {});
  EXPECT_EQ(all.size(), 9U) << "those that have ended, too";
  EXPECT_EQ(std::ranges::count(all, "finished", &RunStatus::state), 2);
}

TEST_F(TuningTest, NoTestSetIsReadToChoose) {
  search_from_nothing();
  ASSERT_EQ(shell(command("out", "--jobs 2")).code, 0);
  for (const auto& arm : std::filesystem::directory_iterator(folder_ / "out/tiny/copy")) {
    const bool trial = arm.path().filename() != "base";
    for (const auto& run : std::filesystem::directory_iterator(arm.path())) {
      const auto result = read_json(run.path() / "result.json");
      EXPECT_EQ(result.at("tests").empty(), trial) << run.path();
      EXPECT_EQ(result.at("flops_per_token").is_string(), trial);
      EXPECT_NE(std::filesystem::exists(run.path() / "output-length-4.txt"), trial);
    }
  }
}

TEST_F(TuningTest, AStudyRunsItsArmWithTheValueThatItFound) {
  search_from_nothing();
  const auto output = output_of(shell(command("out", "--json --jobs 2 2>/dev/null # ")));
  const auto perplexity = perplexities(output);
  ASSERT_EQ(perplexity.size(), 2U) << output;
  EXPECT_TRUE(ends(shell(command("out")), 0, ", 0 to do"));
  EXPECT_TRUE(says(read_file(folder_ / "out/tiny/table.txt"),
                   "chosen values of training.schedule.peak by validation perplexity"));

  const auto tuning = read_json(folder_ / "out/tiny/results.json").at("tuning");
  const auto& arm = tuning.at("arms").at(0);
  ASSERT_EQ(arm.at("tried").size(), 4U) << "3.0e-3 is the best, so 0.09 follows";
  EXPECT_EQ(arm.at("tried")[3].at("values").at("training.schedule.peak"), "0.09");
  const std::string best = arm.at("chosen").at("training.schedule.peak");
  EXPECT_TRUE(best == "3.0e-3" || best == "0.09");
  for (const auto& one : arm.at("tried"))
    EXPECT_LE(arm.at("tried")[best == "0.09" ? 3 : 1].at("mean").get<double>(),
              one.at("mean").is_string() ? 1e300 : one.at("mean").get<double>());
  const auto config = read_file(folder_ / "out/tiny/copy/base/seed-1/config.yaml");
  EXPECT_FALSE(says(config, "peak: 1e-09"));
  EXPECT_TRUE(says(read_file(folder_ / "out/tiny/report.html"), "<h2>Chosen values</h2>"));

  const auto frozen = records::read_frozen(folder_ / "out/tiny");
  const auto data = report::read_report_data(frozen, folder_ / "out/tiny");
  ASSERT_EQ(data.runs.size(), 2U);
  const auto& repeat = data.commands.back();
  EXPECT_EQ(repeat.arm, "base");
  ASSERT_TRUE(repeat.command.starts_with("ablate "));
  const auto repeated = shell("cd " + (folder_ / "out/tiny").string() + " && " + kProgram +
                              repeat.command.substr(6) + " --json --jobs 2 2>/dev/null");
  EXPECT_EQ(repeated.code, 0) << repeat.command;
  EXPECT_EQ(perplexities(repeated.output), perplexity);
}

}  // namespace
}  // namespace ablate::schedule
