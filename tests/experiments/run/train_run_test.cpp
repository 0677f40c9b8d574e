#include "experiments/run/train_run.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/config/schema/printer.h"
#include "experiments/errors.h"
#include "experiments/records/result.h"
#include "experiments/run/load_run.h"
#include "models/hardware.h"
#include "tests/experiments/program.h"
#include "tests/experiments/waiting.h"
#include "tests/training/storage/waiting_lock.h"
#include "training/checkpoint/checkpoint.h"
#include "training/storage/durable_file.h"
#include "training/storage/errors.h"

namespace ablate::run {
namespace {

/// The run of the tiny study, planned and not begun.
class TrainRunTest : public ProgramTest {
 protected:
  TrainRunTest() { plan("out"); }

  void plan(const std::string& output, const std::vector<std::string>& sets = {}) const {
    const auto planned = config::read_study(study(), {.sets = sets});
    records::write_plan(run(output), planned, planned.runs.at(0));
  }
  Outcome train(const std::string& output, const std::string& more = "") const {
    return program("train", run(output), more, "2>&1");
  }
  std::string weights(const std::string& output) const {
    return read_file(run(output) / "checkpoints/step-00000060/model.safetensors");
  }
};

TEST_F(TrainRunTest, APlannedRunIsTheRunOfItsStudy) {
  ASSERT_TRUE(ends(train("out"), 0));
  ASSERT_EQ(shell(command("study")).code, 0);
  EXPECT_FALSE(weights("out").empty());
  EXPECT_EQ(weights("out"), weights("study"));
  EXPECT_TRUE(
      config::differences(job_of(run("out")).experiment, job_of(run("study")).experiment).empty());
  EXPECT_EQ(records::read_result(run("out"))->arm, "base");
}

/// How a run's process ends that loses the run to another one while it saves a checkpoint, and
/// `meanwhile` happens in its folder.
template <class Meanwhile>
int end_of_lost_owner(const std::filesystem::path& folder, Meanwhile&& meanwhile) {
  pid_t owner = 0;
  {
    const HeldBeforeSaving held(folder);
    owner = start_process(kProgram + " train " + folder.string() + " 2>/dev/null");
    EXPECT_TRUE(eventually([&] { return waits_for_a_lock(owner); }));
    write_file(folder / "claims/000002", "{}");
    meanwhile();
  }
  return end_of(owner);
}

TEST_F(TrainRunTest, PatienceOnTheTestTextIsRefusedBeforeAnythingTrains) {
  plan("facts", {"data={task: facts, symbols: 4, key: 2}", "training.evaluate_every=20",
                 "training.patience=1"});
  const auto outcome = train("facts");
  EXPECT_TRUE(ends(outcome, 3, "training.patience would choose weights on the test text"));
  EXPECT_FALSE(std::filesystem::exists(run("facts") / "metrics.jsonl"));
}

TEST_F(TrainRunTest, TheResultCountsWhatTrainingCut) {
  EXPECT_EQ(train("out").code, 0);
  plan("short", {"training.max_length=4"});
  ASSERT_TRUE(ends(train("short"), 0));
  const auto whole = records::read_result(run("out")), cut = records::read_result(run("short"));
  EXPECT_EQ(whole->cut_sources + whole->cut_targets, 0);
  EXPECT_GT(cut->cut_sources, 0) << "four symbols and the end";
  EXPECT_EQ(cut->cut_targets, cut->cut_sources) << "a copy is as long";
  EXPECT_EQ(cut->tests.at(0).target_tokens, whole->tests.at(0).target_tokens);
}

TEST_F(TrainRunTest, AnAverageThatIsNotFiniteIsNamedAndNotEvaluated) {
  for (const auto& [output, set, weights] :
       {std::tuple{"mean", "training.average=2", "average of 2 checkpoints (steps 49 to 56)"},
        {"ema", "training.ema=0.5", "exponential average"}}) {
    plan(output, {set});
    ASSERT_EQ(train(output).code, 0);
    const auto checkpoints = run(output) / "checkpoints";
    const bool mean = output == std::string("mean");
    for (const auto& found : training::list_checkpoints(checkpoints)) {
      if (found.step != (mean ? 49 : 60)) continue;
      auto damaged = training::load_checkpoint(found.path);
      (mean ? damaged.model.at("embedding") : damaged.optimizer.at("ema.embedding"))[1][2] =
          std::nan("");
      training::save_checkpoint(checkpoints, damaged);
    }
    std::filesystem::remove(run(output) / "result.json");
    for (const auto& outcome : {train(output), program("eval", run(output), "2>&1")}) {
      EXPECT_TRUE(ends(
          outcome, 4,
          "checkpoints (" + std::string(weights) + "): the weight 'embedding' holds 1 number of "));
    }
    EXPECT_FALSE(std::filesystem::exists(run(output) / "result.json"));
  }
}

TEST_F(TrainRunTest, AnOwnerThatHasLostItsRunWritesNothingMore) {
  EXPECT_EQ(end_of_lost_owner(run("out"), [] {}), 75);
  const auto environment = read_json(run("out") / "environment.json");
  EXPECT_FALSE(environment.at("starts").at(0).at("ended"));
  EXPECT_EQ(lines_of(read_file(run("out") / "metrics.jsonl")).size(), 1u);
}

TEST_F(TrainRunTest, AnOwnerThatHasLostItsRunSaysSoWhateverFailsFirst) {
  EXPECT_EQ(end_of_lost_owner(run("out"),
                              [&] {
                                std::filesystem::remove_all(run("out") / "checkpoints");
                                write_file(run("out") / "checkpoints", "");
                              }),
            75);
}

TEST_F(TrainRunTest, WhatAKilledProcessWasWritingIsRemoved) {
  const auto leftover = training::temporary_beside(run("out") / "environment.json");
  write_file(leftover, "{");
  ASSERT_EQ(train("out").code, 0);
  EXPECT_FALSE(std::filesystem::exists(leftover));
}

TEST_F(TrainRunTest, ADryRunPrintsWhatTheRunWillTakeAndWritesNothing) {
  const auto outcome = program("train", run("out"), "--dry-run 2>/dev/null");
  ASSERT_EQ(outcome.code, 0);
  EXPECT_EQ(nlohmann::json::parse(outcome.output).at("steps"), 60);
  for (const auto& entry : std::filesystem::directory_iterator(run("out")))
    EXPECT_TRUE(entry.path().filename() == "config.yaml" || entry.path().filename() == "run.json")
        << entry.path();
}

TEST_F(TrainRunTest, AStudyMaySwitchOffMklsFastPathForItsRunsAndForWhoLoadsThem) {
  plan("slow", {"training.mkl_fast_path=false"});
  for (const auto& [output, allowed] : {std::pair{"slow", false}, {"out", true}}) {
    ASSERT_EQ(train(output).code, 0);
    models::allow_mkl_fast_path(allowed);
    const bool expected = models::mkl_takes_fast_path();
    const auto environment = read_json(run(output) / "environment.json");
    EXPECT_EQ(environment.at("mkl_fast_path"), expected) << output;
    models::allow_mkl_fast_path(!allowed);
    load_run(run(output), "");
    EXPECT_EQ(models::mkl_takes_fast_path(), expected) << output;
  }
  models::allow_mkl_fast_path(true);
}

TEST_F(TrainRunTest, AFolderWithADamagedPlanIsRefused) {
  write_file(run("out") / "run.json", "{");
  EXPECT_THROW(job_of(run("out")), training::CheckpointError);
}

TEST_F(TrainRunTest, AFolderOfAnotherConfigurationIsNotPlannedAnew) {
  EXPECT_THROW(plan("out", {"model.d_model=32"}), UsageError);
  EXPECT_EQ(job_of(run("out")).experiment.model.d_model, 16);
}

}  // namespace
}  // namespace ablate::run
