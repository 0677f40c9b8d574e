#include "experiments/schedule/tuning.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/records/failure.h"
#include "experiments/records/frozen_study.h"
#include "experiments/records/result.h"
#include "experiments/records/tuned_arms.h"
#include "experiments/report/write_report.h"
#include "tests/experiments/program.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::schedule {
namespace {

/// The tiny study with three learning rates to try on two of its three seeds.
class TuningTest : public ProgramTest {
 protected:
  TuningTest() {
    auto text = read_file(study());
    text.replace(text.find("seeds: [1]"), 10, "seeds: [1, 2, 3]");
    write_file(study(),
               text +
                   "tune: { key: training.schedule.peak, values: [1.0e-9, 3.0e-3, 1.0e-3], "
                   "seeds: [1, 2] }\n");
  }

  /// A finished run, by hand.
  void finish(const std::string& arm, int64_t seed, double validation_perplexity) const {
    const auto folder = folder_ / "tiny/copy" / arm / ("seed-" + std::to_string(seed));
    std::filesystem::create_directories(folder);
    const records::RunResult result{.study = "tiny",
                                    .task = "copy",
                                    .arm = arm,
                                    .seed = seed,
                                    .validation_perplexity = validation_perplexity};
    write_file(folder / "result.json", training::sealed_json(training::to_json(result)));
  }

  /// Of each run, by arm and seed, in what `ablate run --json` printed.
  static std::map<std::string, double> perplexities(const std::string& output) {
    std::map<std::string, double> perplexity;
    for (const auto& line : lines_of(output)) {
      const auto json = nlohmann::json::parse(line);
      perplexity[json.at("arm").get<std::string>() + json.at("seed").dump()] =
          json.at("validation_perplexity");
    }
    return perplexity;
  }

  std::vector<config::TriedValue> tried_values() const {
    return records::with_tuned_arms(config::read_study(study()), folder_ / "tiny").tuning->tried;
  }

  std::string chosen() const {
    const auto tuned = records::with_tuned_arms(config::read_study(study()), folder_ / "tiny");
    EXPECT_EQ(tuned.arms, (std::vector<std::string>{"base", "base-tuned"}));
    EXPECT_EQ(tuned.runs.size(), 6U);
    EXPECT_EQ(tuned.runs.back().arm, "base-tuned");
    return records::StudyFolder("tiny").run(tuned.runs.back()).path.string();
  }
};

const std::string kLow = "base-training.schedule.peak=1.0e-9";
const std::string kHigh = "base-training.schedule.peak=3.0e-3";
const std::string kMiddle = "base-training.schedule.peak=1.0e-3";

TEST_F(TuningTest, TheBestMeanOverTheTuningSeedsWins) {
  for (const int64_t seed : {1, 2, 3}) {
    finish(kLow, seed, 9);
    finish("base", seed, seed == 3 ? 1 : 5);  // the third seed is none to tune on
    finish(kMiddle, seed, seed == 1 ? 6 : 3);
  }
  EXPECT_EQ(chosen(), "tiny/copy/" + kMiddle + "/seed-3");
  const auto tried = tried_values();
  ASSERT_EQ(tried.size(), 3U);
  for (size_t value = 0; value < 3; ++value) {
    EXPECT_EQ(tried[value].value, value);
    EXPECT_EQ(tried[value].score, (std::vector<double>{9, 5, 4.5})[value]);
    EXPECT_EQ(tried[value].chosen, value == 2);
  }
}

TEST_F(TuningTest, ARenamedStudyIsSearchedInItsOwnFolder) {
  for (const int64_t seed : {1, 2}) {
    finish(kLow, seed, 9);
    finish("base", seed, 5);
    finish(kMiddle, seed, 3);
  }
  records::freeze(study(), {}, folder_ / "frozen");
  std::filesystem::rename(folder_ / "tiny", folder_ / "renamed");
  for (const auto* file : {"study.yaml", "command.json"})
    std::filesystem::copy(folder_ / "frozen/tiny" / file, folder_ / "renamed");
  finish(kLow, 1, 1);  // of another study that took the name
  const auto tuned = records::read_frozen(folder_ / "renamed");
  EXPECT_EQ(tuned.runs.back().stored, kMiddle);
  EXPECT_EQ(records::read_runs(tuned, folder_ / "renamed").results.size(), 4U);
}

TEST_F(TuningTest, NothingIsChosenBeforeEveryValueHasBeenTried) {
  finish(kLow, 1, 9);
  finish(kLow, 2, 9);
  finish("base", 1, 5);
  finish("base", 2, 5);
  EXPECT_EQ(chosen(), "tiny/copy/base-tuned/seed-3");
  const auto tuned = records::with_tuned_arms(config::read_study(study()), folder_ / "tiny");
  EXPECT_EQ(records::read_runs(tuned, folder_ / "tiny").missing.back().reason, "not started");
}

TEST_F(TuningTest, AValueWhoseRunFailedIsNotChosen) {
  for (const int64_t seed : {1, 2}) {
    finish(kLow, seed, 9);
    finish("base", seed, 10);
  }
  finish(kMiddle, 1, 1);
  const auto folder = folder_ / "tiny/copy" / kMiddle / "seed-2";
  std::filesystem::create_directories(folder);
  records::write_failure(folder, {.exit_code = 5, .message = "the loss is nan"});
  EXPECT_EQ(chosen(), "tiny/copy/" + kLow + "/seed-3");
  const auto tried = tried_values();
  ASSERT_EQ(tried.size(), 3U);
  EXPECT_TRUE(tried[0].chosen);
  EXPECT_TRUE(std::isnan(tried[2].score)) << "its second run diverged";
}

TEST_F(TuningTest, OnlyAValueThatDivergesIsGivenUpForAFailure) {
  const auto of = [&](const std::string& arm) {
    const auto folder = folder_ / "tiny/copy" / arm / "seed-1";
    std::filesystem::create_directories(folder);
    return folder;
  };
  for (const int64_t seed : {1, 2}) {
    finish("base", seed, 5);
    finish(kLow, seed, 9);
  }
  finish(kMiddle, 2, 1);
  const auto next = [&](int exit_code) {
    records::write_failure(of(kMiddle), {.exit_code = exit_code, .message = "why"});
    std::string runs;
    for (const auto& run : tuning_stage(config::read_study(study()), folder_ / "tiny").runs)
      runs += run.arm + " " + std::to_string(run.seed) + ", ";
    return runs;
  };
  for (const int exit_code : {1, 2, 3, 4, 6, 7, 8, 75, 128 + SIGKILL, 128 + SIGSEGV})
    EXPECT_EQ(next(exit_code), kMiddle + " 1, ") << exit_code;
  EXPECT_EQ(next(5), "base 1, base 2, base 3, ") << "the best one, on all seeds";
}

TEST_F(TuningTest, AFailedWriteLetsNoOtherValueBeChosen) {
  auto text = read_file(study());
  text.replace(text.find("seeds: [1, 2, 3]"), 16, "seeds: [1]");
  text.replace(text.find("seeds: [1, 2] }"), 15, "seeds: [1] }");
  write_file(study(), text);
  const auto obstacle = folder_ / "out/tiny/copy" / kMiddle / "seed-1/initial_weights.json";
  std::filesystem::create_directories(obstacle);  // no file can take its place
  const auto failed = shell(command("out"));
  EXPECT_EQ(failed.code, 7) << failed.output;
  const auto best = [&] { return records::read_frozen(folder_ / "out/tiny").runs.back().stored; };
  EXPECT_EQ(best(), "base-tuned") << "none";
  std::filesystem::remove(obstacle);
  const auto again = shell(command("out"));
  EXPECT_EQ(again.code, 0) << again.output;
  EXPECT_EQ(best(), "base");
}

TEST_F(TuningTest, WhatAnEarlierStartLeftOfAnyValueIsRemoved) {
  const auto folder = folder_ / "tiny/copy" / kLow / "seed-2";
  std::filesystem::create_directories(folder);
  records::write_failure(folder, {.exit_code = 7, .message = "cannot write"});
  write_file(training::temporary_beside(folder / "environment.json"), "{");
  clear_earlier_start(config::read_study(study()), records::StudyFolder(folder_ / "tiny"));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(TuningTest, AStudyThatTunesHasTheArmAsItStandsAndAtItsBest) {
  auto text = read_file(study());
  text.replace(text.find("peak: 3.0e-3"), 12, "peak: 1.0e-9");
  text.replace(text.find("seeds: [1, 2, 3]"), 16, "seeds: [1, 2]");
  write_file(study(), text);
  const auto outcome = shell(command("out", "--json --jobs 2 2>/dev/null # "));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const auto perplexity = perplexities(outcome.output);
  ASSERT_EQ(perplexity.size(), 4U) << outcome.output;
  EXPECT_LT(perplexity.at("base-tuned1"), 0.8 * perplexity.at("base1"));
  EXPECT_LT(perplexity.at("base-tuned2"), 0.8 * perplexity.at("base2"));
  const auto again = shell(command("out"));
  EXPECT_EQ(again.code, 0);
  EXPECT_NE(again.output.find(", 0 to do"), std::string::npos) << again.output;

  const auto tuning =
      nlohmann::json::parse(read_file(folder_ / "out/tiny/results.json")).at("tuning");
  EXPECT_EQ(tuning.at("key"), "training.schedule.peak");
  EXPECT_EQ(tuning.at("metric"), "validation_perplexity");
  ASSERT_EQ(tuning.at("tried").size(), 3U);
  EXPECT_EQ(tuning.at("tried")[1].at("value"), "3.0e-3");
  EXPECT_EQ(tuning.at("tried")[1].at("chosen"), true) << tuning;
  EXPECT_GT(tuning.at("tried")[0].at("score").get<double>(),
            tuning.at("tried")[1].at("score").get<double>());
  EXPECT_NE(read_file(folder_ / "out/tiny/report.html").find("<h2>Tuning</h2>"), std::string::npos);
  EXPECT_NE(again.output.find("values of training.schedule.peak by validation perplexity"),
            std::string::npos)
      << again.output;

  const auto frozen = records::read_frozen(folder_ / "out/tiny");
  const auto data = report::read_report_data(frozen, folder_ / "out/tiny");
  ASSERT_EQ(data.runs.size(), 4U);
  for (const auto& record : data.runs) {
    EXPECT_EQ(record.training.size(), 12U) << record.arm;
    EXPECT_EQ(record.validation.size(), 4U) << record.arm;
    EXPECT_FALSE(record.positions.empty()) << record.arm;
  }
  ASSERT_FALSE(data.samples.empty());
  EXPECT_EQ(data.samples.front().outputs.back().arm, "base-tuned");
  for (const auto& fact : data.environment)
    EXPECT_TRUE(fact.name != "device" || fact.values.front().second == 4);
  const auto& repeat = data.commands.back();
  EXPECT_EQ(repeat.arm, "base-tuned");
  ASSERT_TRUE(repeat.command.starts_with("ablate "));
  const auto repeated = shell("cd " + folder_.string() + " && " + kProgram +
                              repeat.command.substr(6) + " --json --jobs 2 2>/dev/null");
  EXPECT_EQ(repeated.code, 0) << repeat.command;
  EXPECT_EQ(perplexities(repeated.output), perplexity);
}

}  // namespace
}  // namespace ablate::schedule
