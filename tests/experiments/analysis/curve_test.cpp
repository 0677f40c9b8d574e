#include "experiments/analysis/curve.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/analysis/tuned_values.h"
#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"

namespace ablate::analysis {
namespace {

const std::string kCurve =
    "tune: {by: curve, keys: {training.schedule.peak: [0.001, 0.002, 0.004, 0.008]}}\n";
constexpr double kDiverged = std::numeric_limits<double>::quiet_NaN();

/// The losses of a seed at each rate, an octave apart; NaN: it diverged; infinite: not run.
using Losses = std::vector<double>;

std::string point(size_t rate) { return fmt::format("peak={}", 0.001 * (1 << rate)); }

/// The perplexities of the loss, and an exact match of 1 less a tenth of it.
records::RunResult run_at(const std::string& arm, int64_t seed, size_t rate, double loss) {
  auto run = result_of(arm + "-" + point(rate), seed, 1 - loss / 10);
  run.validation_perplexity = std::exp(loss);
  run.tests.front().perplexity = std::exp(2 * loss);
  run.training_seconds = static_cast<double>(rate + 1);
  return run;
}

records::StudyRuns runs_at(const std::map<std::string, std::vector<Losses>>& arms) {
  records::StudyRuns runs{.folder = {"none/s"}};
  for (const auto& [arm, seeds] : arms)
    for (size_t i = 0; i < seeds.size(); ++i)
      for (size_t rate = 0; rate < seeds[i].size(); ++rate) {
        const double loss = seeds[i][rate];
        const auto seed = static_cast<int64_t>(i + 1);
        if (std::isnan(loss))
          runs.left_out.push_back({"copy", arm + "-" + point(rate), seed, "diverged"});
        else if (std::isinf(loss))
          runs.missing.push_back({"copy", arm + "-" + point(rate), seed, "not started"});
        else
          runs.results.push_back(run_at(arm, seed, rate, loss));
      }
  return runs;
}

Evidence of(const std::map<std::string, std::vector<Losses>>& arms,
            const std::string& tune = kCurve) {
  std::vector<std::string> names;
  for (const auto& [name, seeds] : arms)
    if (name != "base") names.push_back(name);
  const auto yaml = study_yaml(static_cast<int>(arms.begin()->second.size()), names, kCompare);
  return evidence_of(yaml + tune, runs_at(arms));
}

const TunedCurve& curve_of(const Evidence& evidence, size_t arm = 0) {
  return evidence.tuning->arms.at(arm).curve.value();
}

/// u^2 - 1, u^2 + 1 and u^2 + u have the mean u^2 + u / 3, whose vertex is at u = -1/6, where they
/// are 1/36 - 1, 1/36 + 1 and 1/36 - 1/6; u is 0 at 0.002.
TEST(Curves, GiveEachSeedItsOwnValueAtTheVertexOfTheMean) {
  const auto evidence = of({{"base", {{3, 2, 3, 6}, {5, 4, 5, 8}, {3, 3, 5, 9}}}});
  EXPECT_NEAR(curve_of(evidence).value, 0.002 * std::exp2(-1. / 6), 1e-12);
  EXPECT_EQ(curve_of(evidence).vertex, Vertex::within);
  EXPECT_NEAR(curve_of(evidence).misfit, 0, 1e-12);
  const auto& loss = cell_of(evidence, "base", "loss").sample.values;
  const auto& match = cell_of(evidence, "base").sample.values;
  const auto& validation = cell_of(evidence, "base", "validation_perplexity", "").sample.values;
  const std::vector<double> expected{2 + 1. / 36, 4 + 1. / 36, 3 + 1. / 36 - 1. / 6};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(loss[i], 2 * expected[i], 1e-9);
    EXPECT_NEAR(match[i], 1 - expected[i] / 10, 1e-12);
    EXPECT_NEAR(validation[i], std::exp(expected[i]), 1e-9);
  }
  EXPECT_EQ(arm_of(evidence, "base").training_seconds.mean, 2)
      << "of the run at 0.002, the nearest";
  EXPECT_EQ(evidence.tuning->arms[0].search.chosen.front().tried, 1U);
}

/// The means of the losses are 4, 3, 4 and 7 and at the vertex 3, though those of two seeds differ.
TEST(Curves, HaveASensitivityInNatsHoweverMuchSeedsDiffer) {
  const auto evidence = of({{"base", {{2, 1, 2, 5}, {6, 5, 6, 9}}}});
  EXPECT_NEAR(curve_of(evidence).value, 0.002, 1e-12);
  EXPECT_NEAR(evidence.tuning->arms[0].sensitivity, (4. + 3 + 4 + 7) / 4 - 3, 1e-9);
}

/// The vertices are nearest to 0.002 and to 0.004.
TEST(Curves, LeaveTheirKeyOutOfTheChangesOfAnArm) {
  const auto evidence = of({{"base", {{3, 2, 3, 6}}}, {"more", {{6, 3, 2, 3}}}});
  const auto& changes = arm_of(evidence, "more").changes;
  EXPECT_EQ(std::ranges::find(changes, "training.schedule.peak", &ChangedKey::path), changes.end());
  EXPECT_FALSE(changes.empty());
}

TEST(Curves, StayWithinTheRangeOfAMetric) {
  EXPECT_EQ(cell_of(of({{"base", {{13, 12, 13, 16}}}}), "base").sample.values[0], 0) << "1 - 1.2";
  const auto high = of({{"base", {{0, -1, 0, 3}}}});
  EXPECT_EQ(cell_of(high, "base").sample.values[0], 1) << "1 + 0.1";
  EXPECT_EQ(cell_of(high, "base", "perplexity").sample.values[0], 1) << "exp(-2)";
}

TEST(Curves, ThatAreOpenEndAtTheirLastValueAndSaySo) {
  const auto evidence = of({{"base", {{16, 9, 4, 1}}}});
  EXPECT_EQ(curve_of(evidence).vertex, Vertex::open) << "the vertex is at 0.016";
  EXPECT_NEAR(curve_of(evidence).value, 0.008, 1e-12);
  EXPECT_NEAR(curve_of(evidence).score, std::exp(1), 1e-9);
  const auto& tuning = *evidence.tuning;
  EXPECT_EQ(curve_remark(tuning.arms[0], tuning), "open: peak at the edge of its grid");
  EXPECT_TRUE(says(notes_of(evidence), "of copy/base (0.008, the largest)"));
}

/// The residuals of a cubic are a multiple of 1, -4, 6, -4, 1, here 17 / 70 of it. Without them the
/// last value is the lowest, 1.76, but the second was the best one.
TEST(Curves, ThatAreFlatAreComparedAtTheBestTriedValue) {
  const auto evidence =
      of({{"base", {{3, 1, 4, 2, 2}}}}, replaced(kCurve, "0.008]", "0.008, 0.016]"));
  EXPECT_EQ(curve_of(evidence).vertex, Vertex::flat);
  EXPECT_NEAR(curve_of(evidence).value, 0.002, 1e-12);
  EXPECT_NEAR(curve_of(evidence).score, std::exp(69. / 35), 1e-9);
  EXPECT_NEAR(curve_of(evidence).misfit, 51. / 35, 1e-9);
  EXPECT_EQ(curve_remark(evidence.tuning->arms[0], *evidence.tuning), "flat: the best tried value");
}

TEST(Curves, LeaveOutAValueThatDivergesOnAnySeed) {
  const auto evidence = of({{"base", {{2, 1, 2, 0}, {4, 3, 4, kDiverged}}}});
  EXPECT_NEAR(curve_of(evidence).value, 0.002, 1e-12);
  EXPECT_EQ(curve_of(evidence).weights[3], 0);
  EXPECT_NEAR(cell_of(evidence, "base", "loss").sample.values[0], 2, 1e-9);
  EXPECT_EQ(curve_remark(evidence.tuning->arms[0], *evidence.tuning), "0.008 left out (diverged)");
  EXPECT_TRUE(evidence.missing.empty());
}

TEST(Curves, OfFewerThanThreeValuesMakeNoClaim) {
  const auto evidence = of({{"base", {{2, 1, 2, 5}, {4, 3, 4, 7}}},
                            {"other", {{kDiverged, 1, 2, 0}, {4, 3, 4, kDiverged}}}});
  EXPECT_TRUE(curve_of(evidence, 1).weights.empty());
  EXPECT_EQ(cell_of(evidence, "other").sample.count, 0);
  EXPECT_FALSE(cell_of(evidence, "other").contrast);
  EXPECT_TRUE(says(notes_of(evidence),
                   "copy/other: no claim: a curve takes 3 values, and runs diverged at 2 of 4."));
}

TEST(Curves, AreOfTheSeedsWithARunAtEveryValue) {
  constexpr double kOpen = std::numeric_limits<double>::infinity();
  const auto evidence = of({{"base", {{2, 1, 2, 5}, {kOpen, 0, 0, 0}}}});
  EXPECT_NEAR(curve_of(evidence).value, 0.002, 1e-12);
  EXPECT_EQ(cell_of(evidence, "base").sample.count, 1);
  EXPECT_EQ(evidence.tuning->arms[0].search.open, 1);
  EXPECT_EQ(evidence.missing.size(), 1U);
}

/// The other arm is the baseline an octave further, so that it is as good at its best.
TEST(Gains, AreAtEachArmsBestAndAtEqualValues) {
  const auto accuracy = replaced(kCurve, "by: curve", "by: curve, metric: token_accuracy");
  auto runs = runs_at({{"base", {{2, 1, 2, 5}}}, {"other", {{5, 2, 1, 2}}}});
  for (auto& run : runs.results)
    run.validation_token_accuracy = 1 - std::log(run.validation_perplexity) / 10;
  const auto evidence = evidence_of(study_yaml(1, {"other"}, kCompare) + accuracy, runs);
  const auto& other = evidence.tuning->arms[1];
  EXPECT_NEAR(other.curve->value, 0.004, 1e-12);
  EXPECT_NEAR(other.gain->at_best, 0, 1e-12);
  EXPECT_NEAR(other.gain->at_equal[0], -0.3, 1e-12);
  EXPECT_EQ(
      gain_sentence(other, evidence),
      "copy: other minus base in validation token accuracy: +0.000 at each arm's best, -0.300 "
      "to +0.300 at equal values of training.schedule.peak.");
  EXPECT_EQ(gain_sentence(evidence.tuning->arms[0], evidence), "");
}

}  // namespace
}  // namespace ablate::analysis
