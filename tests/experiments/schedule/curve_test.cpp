#include <cmath>

#include "experiments/report/write_report.h"
#include "experiments/schedule/study_status.h"
#include "tests/experiments/schedule/tuning_study.h"
#include "tests/says.h"

namespace ablate::schedule {
namespace {

/// The tiny study, whose seeds run three rates an octave apart.
class CurveTest : public TuningTest {
 protected:
  CurveTest() {
    write_file(study(), untuned_ +
                            "arms: { base: {}, wide: { model.feed_forward.d_hidden: 48 } }\n"
                            "tune: { by: curve, keys: { training.schedule.peak: [4.0e-3, 8.0e-3, "
                            "1.6e-2] } }\n"
                            "compare: { baseline: base, metric: loss, test: t }\n");
  }

  config::Study curves() const { return config::read_study(study()); }
  records::StudyFolder place() const { return folder_ / "tiny"; }

  void finish_all(const std::string& arm,
                  const std::vector<std::string>& peaks = {"0.004", "0.008", "0.016"}) const {
    for (const auto& peak : peaks)
      for (const int64_t seed : {1, 2, 3}) finish(arm + "-peak=" + peak, seed, 3);
  }
};

TEST_F(CurveTest, EveryRunCountsAsOneOfTheStudy) {
  EXPECT_TRUE(says(program("config", "check", study()).output,
                   "1 task, 2 arms, 3 seeds: 3 values of training.schedule.peak, 18 runs\n"));
  finish_all("base");
  EXPECT_EQ(records::progress_words(records::progress_of(curves(), place())), "9 of 18 runs done");
  const auto all = status_of(curves(), place(), {});
  ASSERT_EQ(all.size(), 18U);
  EXPECT_EQ(all.back().run, "copy/wide-peak=0.016/seed-3");
  EXPECT_EQ(lines_of(shell(command("out", "--list")).output).size(), 18U);
  EXPECT_TRUE(says(shell(command("out", "--dry-run")).output, "\n18 runs to do"));
  EXPECT_EQ(next().substr(0, 14), "wide:1 wide:2 ");
}

TEST_F(CurveTest, ARunThatDivergedIsNeitherTriedAgainNorMissing) {
  finish_all("wide");
  finish_all("base", {"0.004", "0.008"});
  for (const int64_t seed : {1, 2}) finish("base-peak=0.016", seed, 3);
  fail("1.6e-2", 3, 5);
  clear_earlier_start(curves(), place());
  EXPECT_EQ(next(), "");
  const auto all = status_of(curves(), place(), {});
  EXPECT_EQ(all[8].run + " " + all[8].state, "copy/base-peak=0.016/seed-3 diverged");
  EXPECT_EQ(all[8].why, "exit code 5: why");
  EXPECT_TRUE(says(shell(command(".", "--list")).output, "diverged\tcopy/base-peak=0.016/seed-3"));
  EXPECT_TRUE(says(shell(command(".", "--dry-run")).output, "\n0 runs to do"));
  const auto outcome = outcome_of(curves(), place());
  ASSERT_EQ(outcome.failed.size(), 1U);
  EXPECT_EQ(outcome.failed[0].label, "copy/base") << "for the curve, not the run";
  EXPECT_FALSE(outcome.interrupted);
  EXPECT_EQ(records::progress_words(records::progress_of(curves(), place())), "18 of 18 runs done");
  const auto runs = records::read_runs(curves(), place());
  EXPECT_TRUE(runs.missing.empty());
  ASSERT_EQ(runs.left_out.size(), 1U);
  EXPECT_EQ(runs.left_out[0].arm, "base-peak=0.016");
  fail("1.6e-2", 3, 7);
  EXPECT_EQ(records::read_runs(curves(), place()).missing.size(), 1U) << "a full disk";
  EXPECT_EQ(next(), "");
  clear_earlier_start(curves(), place());
  EXPECT_EQ(next(), "base:3 ");
}

/// As a search does whose values all diverge.
TEST_F(CurveTest, AnArmFailsIfTooFewValuesAreLeftForItsCurve) {
  finish_all("wide");
  finish_all("base", {"0.008"});
  for (const int64_t seed : {1, 2}) finish("base-peak=0.004", seed, 3);
  for (const int64_t seed : {1, 2, 3}) finish("base-peak=0.016", seed, seed == 2 ? INFINITY : 3);
  EXPECT_TRUE(outcome_of(curves(), place()).failed.empty()) << "a run is open";
  fail("4.0e-3", 3, 5);
  const auto outcome = outcome_of(curves(), place());
  ASSERT_EQ(outcome.failed.size(), 1U);
  EXPECT_EQ(outcome.failed[0].label, "copy/base");
  EXPECT_EQ(outcome.failed[0].exit_code, 5);
  EXPECT_EQ(outcome.failed[0].why,
            "runs diverged at 2 of 3 values of training.schedule.peak, and a curve takes 3; give "
            "other values");
}

TEST_F(CurveTest, AStudyIsReportedAtTheVertexOfEachCurveAndGoesOn) {
  const auto outcome = shell(command("out", "--jobs 2"));
  ASSERT_TRUE(ends(outcome, 0, "18 of 18 runs done")) << outcome.output;
  const auto arms = read_json(folder_ / "out/tiny/results.json").at("tuning").at("arms");
  for (const auto& arm : arms) {
    EXPECT_GT(arm.at("curve").at("value"), 3.9e-3);
    EXPECT_LT(arm.at("curve").at("value"), 1.61e-2);
  }
  EXPECT_EQ(lines_of(read_file(folder_ / "out/tiny/results.jsonl")).size(), 18U);
  EXPECT_TRUE(says(read_file(folder_ / "out/tiny/report.html"), "a ring is around the vertex"));
  EXPECT_TRUE(says(read_file(folder_ / "out/tiny/table.txt"), "wide minus base in validation "));
  EXPECT_EQ(report::read_report_data(curves(), folder_ / "out/tiny").runs.size(), 18U);
  EXPECT_TRUE(ends(shell(command("out")), 0, ", 0 to do"));
  EXPECT_TRUE(ends(shell(command("out", "--seeds 1,2,3,4")), 0, "24 of 24 runs done"));
}

}  // namespace
}  // namespace ablate::schedule
