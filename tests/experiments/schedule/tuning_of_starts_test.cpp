#include "tests/experiments/schedule/tuning_study.h"

namespace ablate::schedule {
namespace {

/// Beside the base an arm that only evaluates its last weights, and one that trains on from that.
class TuningOfStartsTest : public TuningTest {
 protected:
  TuningOfStartsTest() {
    untuned_ += R"(arms:
  base: {}
  looked_at: { training.steps: 0, training.init_from: { arm: base } }
  further: { training.init_from: { arm: looked_at } }
)";
    write_file(study(), untuned_ +
                            "tune: { by: shared, keys: { training.schedule.peak: [1.0e-3, 2.0e-3], "
                            "model.norm.kind: [layer, rms] }, seeds: [8], extend: 0 }\n");
  }

  void finish_base() const {
    for (const char* peak : {"0.001", "0.002"})
      for (const char* norm : {"layer", "rms"})
        finish(fmt::format("base-peak={}-kind={}", peak, norm), 8,
               std::string(norm) == "rms" && std::string(peak) == "0.002" ? 2 : 5);
  }
};

TEST_F(TuningOfStartsTest, EachIsTriedOnTopOfTheBestTrialOfTheOther) {
  EXPECT_EQ(next(),
            "base-peak=0.001-kind=layer:8 base-peak=0.001-kind=rms:8 "
            "base-peak=0.002-kind=layer:8 base-peak=0.002-kind=rms:8 ");
  finish_base();
  EXPECT_EQ(next(), "looked_at-peak=0.002-kind=rms:8 base:1 base:2 base:3 ");
  finish("looked_at-peak=0.002-kind=rms", 8, 2);
  EXPECT_EQ(next(),
            "further-peak=0.001-kind=rms:8 further-peak=0.002-kind=rms:8 base:1 base:2 base:3 ")
      << "it has the norm of its start, and a rate of its own";
  const auto trials = records::open_trials(config::read_study(study()), folder_ / "tiny");
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials[0].experiment.training.init_from.arm, "looked_at-peak=0.002-kind=rms");

  finish("further-peak=0.001-kind=rms", 8, 1);
  finish("further-peak=0.002-kind=rms", 8, 3);
  const auto study = tuned();
  ASSERT_EQ(study.runs.size(), 9U);
  for (const auto& run : study.runs) {
    EXPECT_EQ(run.waits, "");
    EXPECT_EQ(peak_of(run), run.arm == "further" ? 1e-3 : 2e-3) << run.arm;
    EXPECT_EQ(run.experiment.model.layer.norm.kind, models::NormKind::rms);
  }
  EXPECT_EQ(study.runs.back().experiment.training.init_from.arm, "looked_at")
      << "the runs that are compared start from each other's";
  ASSERT_EQ(study.tuning->searches.size(), 2U) << "nothing is searched for an arm without training";
  EXPECT_EQ(study.tuning->searches[1].arm, "further");
}

TEST_F(TuningOfStartsTest, TrialsThatWaitAreListedAndNotStarted) {
  const auto trials = records::open_trials(config::read_study(study()), folder_ / "tiny");
  ASSERT_EQ(trials.size(), 4U + 1 + 2);
  EXPECT_EQ(trials[4].arm, "looked_at-peak=unknown-kind=unknown");
  EXPECT_EQ(trials[6].arm, "further-peak=0.002-kind=unknown");
  EXPECT_EQ(trials[6].waits,
            "not started: the values of looked_at, from which it starts, are still searched for");
}

TEST_F(TuningOfStartsTest, AnArmWhoseStartHasNoValuesIsNotRun) {
  for (const char* name : {"base-peak=0.001-kind=layer", "base-peak=0.001-kind=rms",
                           "base-peak=0.002-kind=layer", "base-peak=0.002-kind=rms"}) {
    std::filesystem::create_directories(folder_of(name, 8));
    records::write_failure(folder_of(name, 8), {.exit_code = 5, .message = "why"});
  }
  EXPECT_EQ(next(), "");
  const auto outcome = outcome_of(config::read_study(study()), folder_ / "tiny");
  ASSERT_EQ(outcome.failed.size(), 1U);
  EXPECT_EQ(outcome.failed[0].label, "copy/base");
  EXPECT_EQ(tuned().runs.back().waits, "the arm that it starts from has no best values");
}

TEST_F(TuningOfStartsTest, WhatStartsFromARunOfAnEarlierWaveThatFailedIsNotStarted) {
  const auto runs = folder_ / "out/tiny/copy";
  std::filesystem::create_directories(runs / "base/seed-1");
  write_file(runs / "base/seed-1/checkpoints", "");  // is no folder
  const auto outcome = shell(command("out", "--jobs 2"));
  EXPECT_TRUE(ends(outcome, 7, "runs that did not finish: copy/base/seed-1 (exit code 7)"));
  EXPECT_TRUE(std::filesystem::exists(runs / "further/seed-2/result.json"));
  for (const auto* arm : {"looked_at", "further"})
    EXPECT_FALSE(std::filesystem::exists(runs / arm / "seed-1/failure.json")) << outcome.output;
}

TEST_F(TuningOfStartsTest, TheStudyRunsToItsEnd) {
  const auto output = output_of(shell(command("out", "--json --jobs 2 2>/dev/null # ")));
  const auto perplexity = perplexities(output);
  ASSERT_EQ(perplexity.size(), 9U) << output;
  EXPECT_EQ(perplexity.at("base1"), perplexity.at("looked_at1")) << "the same weights";
  EXPECT_NE(perplexity.at("base1"), perplexity.at("further1"));
  const auto trials = records::searches(config::read_study(study()), folder_ / "out/tiny");
  ASSERT_TRUE(trials[0].best && trials[1].best);
  EXPECT_EQ(trials[1].found.tried[0].scores,
            trials[0].found.tried[*trials[0].found.chosen.front().tried].scores)
      << "the trial without training has the weights of the best trial";
}

}  // namespace
}  // namespace ablate::schedule
