#include "experiments/records/result.h"

#include <cmath>
#include <limits>

#include "experiments/records/failure.h"
#include "experiments/records/run_plan.h"
#include "tests/experiments/program.h"
#include "training/storage/errors.h"
#include "training/storage/finite_json.h"

namespace ablate::records {
namespace {

class ResultTest : public ProgramTest {
 protected:
  nlohmann::json written() const {
    return training::to_json(RunResult{.study = "s",
                                       .task = "t",
                                       .arm = "a",
                                       .seed = 3,
                                       .steps = 7,
                                       .tokens = 900,
                                       .tests = {{.name = "length 4", .bleu = 12.5}}});
  }
  std::optional<RunResult> read(const std::string& text) const {
    write_file(folder_ / "result.json", text);
    return read_result(folder_);
  }
};

TEST_F(ResultTest, WhatWasObservedLastIsSummedUpOverTheModel) {
  std::vector<nlohmann::json> log;
  const auto add = [&](int64_t step, const char* observed, const char* place,
                       const nlohmann::json& value) {
    log.push_back({{"step", step}, {"observed", observed}, {"place", place}, {"value", value}});
  };
  log.push_back({{"step", 0}, {"loss", 3.5}});
  add(0, "attention_entropy", "decoder.layers.0.attention", 9);
  for (const int64_t step : {5, 10}) {
    add(step, "update_ratio", "decoder.layers.0", 0.5);
    add(step, "update_ratio", "model", 0.001);
    add(step, "gradient_noise", "model", "Infinity");
    add(step, "attention_entropy", "encoder.layers.0.attention", step);
    add(step, "rank_residual", "encoder.layers.0", 0.9);
    add(step, "attention_entropy", "decoder.layers.0.attention", 1);
    add(step, "rank_residual", "decoder.layers.0", 0.25);
  }
  RunResult result{.steps = 10, .train_loss = 2};
  add_logged(result, log);
  EXPECT_EQ(result.attention_entropy, (10 + 1) / 2.0);  // over the places, of step 10
  EXPECT_EQ(result.rank_residual, 0.25);                // of the last layer
  EXPECT_EQ(result.update_ratio, 0.001);                // of the whole model
  EXPECT_EQ(result.gradient_noise, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(result.active_neurons));
  EXPECT_TRUE(std::isnan(result.expert_imbalance));
  EXPECT_EQ(result.train_loss, 2);
}

TEST_F(ResultTest, TheImbalanceOfExpertsIsTheMeanOverMixturesAtTheLastStep) {
  std::vector<nlohmann::json> log;
  for (const auto& [step, first, second] : {std::tuple{10, 3.0, 3.0}, {20, 1.5, 2.0}}) {
    log.push_back(
        {{"step", step}, {"mixture", "encoder.layers.0.feed_forward"}, {"highest", first}});
    log.push_back(
        {{"step", step}, {"mixture", "encoder.layers.1.feed_forward"}, {"highest", second}});
  }
  RunResult result;
  add_logged(result, log);
  EXPECT_EQ(result.expert_imbalance, 1.75);
}

TEST_F(ResultTest, ADamagedFileIsAnError) {
  const auto whole = training::sealed_json(written());
  EXPECT_THROW(read(whole.substr(0, whole.size() / 2)), training::CheckpointError);
  for (const char* key : {"seed", "tests", "steps", "memory_bytes"}) {
    auto json = written();
    json.erase(key);
    EXPECT_THROW(read(training::sealed_json(json)), training::CheckpointError) << key;
    json[key] = "wrong";
    EXPECT_THROW(read(training::sealed_json(json)), training::CheckpointError) << key;
  }
}

TEST_F(ResultTest, AFileBesideItThatHasChangedIsFound) {
  const RunFolder folder(folder_);
  write_file(folder.log(), "{}\n");
  write_file(folder.outputs("length 4"), "a b\n");
  write_result(folder, {.study = "s", .tests = {{.name = "length 4"}}});
  const auto result = read_result(folder);
  EXPECT_NO_THROW(check_files(folder, result.value()));
  for (const auto& path : {folder.log(), folder.outputs("length 4")}) {
    const auto before = read_file(path);
    write_file(path, before + " ");
    EXPECT_THROW(check_files(folder, *result), training::CheckpointError) << path;
    std::filesystem::remove(path);
    EXPECT_NO_THROW(check_files(folder, *result)) << path;
    write_file(path, before);
  }
}

TEST_F(ResultTest, ADigitThatHasChangedIsFound) {
  const RunFolder folder(folder_);
  write_result(folder, {.study = "s", .seed = 3, .steps = 7, .tests = {{.name = "t", .bleu = 12}}});
  EXPECT_THROW(read(replaced(read_file(folder.result()), "12.0", "13.0")),
               training::CheckpointError);
}

TEST_F(ResultTest, ALossThatWasNeverMeasuredIsNone) {
  EXPECT_TRUE(std::isnan(read(training::sealed_json(written()))->train_loss));
}

template <class Scores>
Scores all_halves() {
  Scores scores;
  Scores::fields(scores, [](const char*, auto& member) {
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(member)>, double>) member = 0.5;
  });
  return scores;
}

TEST_F(ResultTest, EveryMetricOfTheTableIsReadFromAField) {
  for (const auto& metric : config::metrics()) {
    if (metric.field.empty()) continue;
    const double value = metric.on.empty() ? value_of(all_halves<RunResult>(), metric)
                                           : value_of(all_halves<TestScores>(), metric);
    EXPECT_FALSE(std::isnan(value)) << metric.name;
    if (metric.converted == nullptr) {
      EXPECT_EQ(value, 0.5) << metric.name;
    }
  }
  const RunResult run{.tests = {{.name = "length 4", .perplexity = 2}}};
  const auto& loss = *config::find_metric("loss");
  EXPECT_DOUBLE_EQ(value_on(run, "length 4", loss), std::log(2));
  EXPECT_TRUE(std::isnan(value_on(run, "length 5", loss)));
}

TEST_F(ResultTest, WordsThatStandForNumbersAreNames) {
  auto json = written();
  json["arm"] = "NaN";
  json.at("tests").at(0)["name"] = "Infinity";
  const auto result = read(training::sealed_json(json));
  EXPECT_EQ(result->arm, "NaN");
  EXPECT_EQ(result->tests.at(0).name, "Infinity");
  write_failure(folder_, {.exit_code = 5, .message = "NaN"});
  EXPECT_EQ(read_failure(folder_)->message, "NaN");
}

TEST(RunEstimate, OfATimeThatCannotBeToldComesBack) {
  const RunEstimate estimate{.steps = 4, .seconds = std::nan("")};
  const auto line = training::to_json(estimate).dump();
  const auto back = training::from_json<RunEstimate>(nlohmann::json::parse(line));
  EXPECT_EQ(back.steps, 4);
  EXPECT_TRUE(std::isnan(back.seconds));
}

TEST_F(ResultTest, MissingRunsHaveTheirReasons) {
  append("arms: { base: {}, failed: {}, killed: {}, begun: {}, fresh: {} }\n");
  const auto study_read = config::read_study(study());
  const auto folder = [&](const std::string& arm) {
    const auto made = folder_ / "tiny/copy" / arm / "seed-1";
    std::filesystem::create_directories(made);
    return made;
  };
  write_result(RunFolder(folder("base")), {.study = "s", .task = "t", .arm = "a"});
  write_failure(folder("failed"), {.exit_code = 5, .message = "step 3: the loss is \xff nan"});
  write_failure(folder("killed"), {.exit_code = 137, .attempts = 2});
  write_file(folder("begun") / "environment.json", "{}");
  std::string reasons;
  for (const auto& run : read_runs(study_read, folder_ / study_read.name).missing)
    reasons += run.task + "/" + run.arm + ": " + run.reason + "\n";
  EXPECT_EQ(reasons,
            "copy/failed: failed with exit code 5: step 3: the loss is \xef\xbf\xbd "
            "nan\ncopy/killed: failed with signal 9 (Killed), which the system sends if memory is "
            "short, in 2 attempts\ncopy/begun: interrupted\ncopy/fresh: not started\n");
}

TEST_F(ResultTest, AFailureThatIsNoRecordIsNone) {
  for (const char* text : {"", "{", "[1]", "5", R"({"exit_code": 1.5})"}) {
    write_file(folder_ / "failure.json", text);
    EXPECT_FALSE(read_failure(folder_)) << text;
  }
}

TEST_F(ResultTest, FilesOutsideTheFolderAreNotRead) {
  write_file(folder_ / "a", "a");
  std::filesystem::create_directories(folder_ / "run");
  for (const auto& name : {(folder_ / "a").string(), std::string("../a"), std::string(".."),
                           std::string("."), std::string()})
    EXPECT_THROW(check_files(folder_ / "run", {.files = {{name, "digest"}}}),
                 training::CheckpointError)
        << name;
}

TEST(RunFailure, ACodeBelowEveryOtherHasAReason) {
  constexpr int kLeast = std::numeric_limits<int>::min();
  EXPECT_EQ(reason({.exit_code = kLeast}), "exit code -2147483648");
}

TEST(RunFailure, OnlyWhatMayEndOtherwiseIsRetried) {
  for (const int code : {137, 139, 6, 8, 9}) EXPECT_TRUE(worth_retrying(code)) << code;
  for (const int code : {1, 2, 3, 4, 5, 7}) EXPECT_FALSE(worth_retrying(code)) << code;
}

}  // namespace
}  // namespace ablate::records
