#include "experiments/schedule/tuning.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/records/failure.h"
#include "experiments/records/frozen_study.h"
#include "experiments/records/result.h"
#include "experiments/records/rung.h"
#include "experiments/records/study_runs.h"
#include "experiments/records/tuned_arms.h"
#include "experiments/report/read_report_data.h"
#include "tests/experiments/program.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"
#include "training/storage/sealed_json.h"

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
    write_file(folder / "result.json", training::to_json(result).dump());
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
    EXPECT_FALSE(tried[value].step.has_value());
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

TEST_F(TuningTest, HalvingGivesUpTheWorseHalfAtEachRung) {
  write_file(study(), read_file(study()).replace(read_file(study()).find("seeds: [1, 2] }"), 15,
                                                 "seeds: [1], halve_from: 10 }"));
  const auto rung = [&](const std::string& arm, int64_t step, double validation_perplexity) {
    const auto folder = folder_ / "tiny/copy" / arm / "seed-1";
    std::filesystem::create_directories(folder);
    records::write_rung(folder, step, {.validation_perplexity = validation_perplexity});
  };
  rung(kHigh, 10, 5);
  rung(kLow, 10, 9);
  EXPECT_EQ(chosen(), "tiny/copy/base-tuned/seed-3");  // one is still to be tried
  rung(kMiddle, 10, 6);                                // the lowest is given up
  rung(kMiddle, 20, 3);
  rung(kHigh, 20, 4);
  EXPECT_EQ(chosen(), "tiny/copy/base-tuned/seed-3");  // the best one is still to be trained
  finish(kMiddle, 1, 3);
  EXPECT_EQ(chosen(), "tiny/copy/" + kMiddle + "/seed-3");
  const auto tried = tried_values();
  ASSERT_EQ(tried.size(), 3U);
  EXPECT_EQ(tried[0].step, 10);
  EXPECT_EQ(tried[0].score, 9);
  EXPECT_EQ(tried[1].step, 20);
  EXPECT_EQ(tried[1].score, 4);
  EXPECT_TRUE(tried[2].chosen);
}

TEST_F(TuningTest, ADamagedRungIsRefused) {
  const auto folder = folder_ / "tiny/copy" / kHigh / "seed-1";
  std::filesystem::create_directories(folder);
  records::write_rung(folder, 10, {.validation_perplexity = 5});
  EXPECT_EQ(records::read_rung(folder, 10)->validation_perplexity, 5);
  auto flipped = read_file(folder / "rung-10.json");
  flipped[flipped.find("5.0")] = '4';
  for (const auto& damaged : {flipped, std::string(), std::string("{}")}) {
    write_file(folder / "rung-10.json", damaged);
    EXPECT_THROW(records::read_rung(folder, 10), training::CheckpointError) << damaged;
  }
}

TEST_F(TuningTest, ARungOfAnotherRunOrStepIsRefused) {
  const auto high = folder_ / "tiny/copy" / kHigh / "seed-1";
  const auto low = folder_ / "tiny/copy" / kLow / "seed-1";
  for (const auto& run : {high, low}) std::filesystem::create_directories(run);
  records::write_rung(high, 10, {.validation_perplexity = 5});
  std::filesystem::copy_file(high / "rung-10.json", low / "rung-10.json");
  std::filesystem::copy_file(high / "rung-10.json", high / "rung-20.json");
  EXPECT_THROW(records::read_rung(low, 10), training::CheckpointError);
  EXPECT_THROW(records::read_rung(high, 20), training::CheckpointError);
  std::filesystem::rename(folder_ / "tiny", folder_ / "moved");
  EXPECT_TRUE(records::read_rung(folder_ / "moved/copy" / kHigh / "seed-1", 10));
}

TEST_F(TuningTest, OnlyAValueThatDivergesIsGivenUpForAFailure) {
  write_file(study(), read_file(study()).replace(read_file(study()).find("seeds: [1, 2] }"), 15,
                                                 "seeds: [1], halve_from: 10 }"));
  const auto of = [&](const std::string& arm) {
    const auto folder = folder_ / "tiny/copy" / arm / "seed-1";
    std::filesystem::create_directories(folder);
    return folder;
  };
  records::write_rung(of(kHigh), 10, {.validation_perplexity = 5});
  records::write_rung(of(kLow), 10, {.validation_perplexity = 9});
  const auto next = [&](int exit_code) {
    records::write_failure(of(kMiddle), {.exit_code = exit_code, .message = "why"});
    std::string runs;
    for (const auto& run : tuning_stage(config::read_study(study()), folder_ / "tiny").runs)
      runs += run.arm + " until " + std::to_string(run.until.value_or(0)) + ", ";
    return runs;
  };
  for (const int exit_code : {1, 2, 3, 4, 6, 7, 8, 75, 128 + SIGKILL, 128 + SIGSEGV})
    EXPECT_EQ(next(exit_code), kMiddle + " until 10, ") << exit_code;
  EXPECT_EQ(next(5), kHigh + " until 20, " + kLow + " until 20, ");
}

TEST_F(TuningTest, AFailedWriteLetsNoOtherValueTrainFurther) {
  auto text = read_file(study());
  text.replace(text.find("seeds: [1, 2, 3]"), 16, "seeds: [1]");
  text.replace(text.find("seeds: [1, 2] }"), 15, "halve_from: 10 }");
  write_file(study(), text);
  const auto of = [&](const std::string& arm) {
    return folder_ / "out/tiny/copy" / arm / "seed-1";
  };
  const auto obstacle = of(kMiddle) / "initial_weights.json";  // no file can take its place
  std::filesystem::create_directories(obstacle);
  const auto failed = shell(command("out"));
  EXPECT_EQ(failed.code, 7) << failed.output;
  EXPECT_TRUE(std::filesystem::exists(of(kLow) / "rung-10.json"));
  for (const auto& arm : {kHigh, kLow})
    EXPECT_FALSE(std::filesystem::exists(of(arm) / "rung-20.json")) << arm;
  std::filesystem::remove(obstacle);
  const auto again = shell(command("out"));
  EXPECT_EQ(again.code, 0) << again.output;
  EXPECT_TRUE(std::filesystem::exists(of(kMiddle) / "rung-20.json"));
  EXPECT_FALSE(std::filesystem::exists(of(kLow) / "rung-20.json"));
}

TEST_F(TuningTest, WhatAnEarlierStartLeftOfAnyValueIsRemoved) {
  const auto folder = folder_ / "tiny/copy" / kLow / "seed-2";
  std::filesystem::create_directories(folder);
  records::write_failure(folder, {.exit_code = 7, .message = "cannot write"});
  write_file(training::temporary_beside(folder / "environment.json"), "{");
  clear_earlier_start(config::read_study(study()), records::StudyFolder(folder_ / "tiny"));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(TuningTest, HalvingTrainsOneValueToTheEndAndEndsInTheSameWeights) {
  auto text = read_file(study());
  text.replace(text.find("seeds: [1, 2, 3]"), 16, "seeds: [1]");
  write_file(study(), text);
  ASSERT_EQ(shell(command("whole")).code, 0);
  text.replace(text.find("seeds: [1, 2] }"), 15, "halve_from: 10 }");
  write_file(study(), text);
  ASSERT_EQ(shell(command("halved")).code, 0);
  const auto runs = [&](const std::string& output, const std::string& arm) {
    return folder_ / output / "tiny/copy" / arm / "seed-1";
  };
  for (const auto& arm : {kHigh, kMiddle, kLow})
    EXPECT_TRUE(std::filesystem::exists(runs("halved", arm) / "rung-10.json")) << arm;
  EXPECT_FALSE(std::filesystem::exists(runs("halved", kLow) / "rung-20.json"));
  EXPECT_FALSE(std::filesystem::exists(runs("halved", kLow) / "result.json"));
  EXPECT_TRUE(std::filesystem::exists(runs("halved", kHigh) / "result.json"));
  const auto weights = "checkpoints/step-00000060/model.safetensors";
  EXPECT_EQ(read_file(runs("halved", kHigh) / weights), read_file(runs("whole", "base") / weights));
  EXPECT_FALSE(read_file(runs("halved", kHigh) / weights).empty());
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
