#include "experiments/analysis/together.h"

#include <gtest/gtest.h>

#include <cmath>

#include "experiments/errors.h"
#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"

namespace ablate::analysis {
namespace {

/// A study whose arm `a` has these differences from the baseline, on a model of this size that
/// reads ten tokens a parameter.
Evidence study_with(const std::string& name, double parameters,
                    const std::vector<double>& differences, const std::string& more = kCompare) {
  std::vector<double> arm;
  for (const double d : differences) arm.push_back(0.5 + d);
  auto evidence =
      evidence_of(study_yaml(static_cast<int>(differences.size()), {"a"}, more),
                  Scores{{"base", std::vector<double>(differences.size(), 0.5)}, {"a", arm}});
  evidence.study = name;
  for (auto& one : evidence.tasks.front().arms) {
    one.parameters = static_cast<int64_t>(parameters);
    one.regime.tokens_per_parameter = config::Range{10, 10};
  }
  return evidence;
}

const std::vector<double> kGains{0.1, 0.12, 0.08, 0.1, 0.11, 0.09};

std::vector<double> shifted_by(double shift) {
  auto moved = kGains;
  for (double& value : moved) value += shift;
  return moved;
}

TEST(Together, PoolsTheSettingsOfOneArm) {
  const std::vector<Evidence> studies{study_with("one", 1000, shifted_by(0)),
                                      study_with("two", 1000, shifted_by(0.05)),
                                      study_with("three", 1000, shifted_by(-0.05))};
  const auto together = pool(studies, {});
  ASSERT_EQ(together.arms.size(), 1U);
  const auto& arm = together.arms.front();
  EXPECT_EQ(arm.studies, 3);
  ASSERT_EQ(arm.settings.size(), 3U);
  EXPECT_EQ(arm.settings.front().study, "one");
  EXPECT_NEAR(arm.settings.front().differences.mean, 0.1, 1e-12);
  // The squares about 0.1 are 0.005, which 2 (error^2 + tau^2) is.
  const double error = arm.settings.front().differences.deviation / std::sqrt(6);
  EXPECT_NEAR(arm.tau * arm.tau, 0.0025 - error * error, 1e-9);
  ASSERT_EQ(arm.sizes.size(), 1U) << "one size";
  EXPECT_NEAR(arm.sizes.front().effect.mean, 0.1, 1e-9);
  EXPECT_EQ(arm.sizes.front().verdict, PooledVerdict::undecided) << "a fourth may find 0";
  EXPECT_EQ(arm.slope, "");
}

TEST(Together, TheRoundingOfEqualScoresIsNoDifference) {
  // 0.5 + 1.1e-16 is the next double above 0.5.
  const std::vector<double> rounding{0, 1.2e-16, 0, 1.2e-16, 0, 1.2e-16};
  const std::vector<Evidence> studies{study_with("one", 1000, rounding),
                                      study_with("two", 1000, rounding)};
  const auto together = pool(studies, {});
  ASSERT_EQ(together.arms.size(), 1U);
  for (const auto& setting : together.arms.front().settings) {
    EXPECT_EQ(setting.differences.mean, 0);
    EXPECT_EQ(setting.differences.deviation, 0);
  }
}

TEST(Together, LeavesTheControlsOut) {
  auto one = study_with("one", 1000, kGains), two = study_with("two", 1000, kGains);
  for (auto* study : {&one, &two}) {
    auto control = arm_of(*study, "a");
    control.name = "control";
    control.control = true;
    study->tasks.front().arms.push_back(control);
  }
  const auto together = pool(std::vector{one, two}, {});
  ASSERT_EQ(together.arms.size(), 1U);
  EXPECT_EQ(together.arms.front().arm, "a");
}

TEST(Together, LeavesOutWhatAllowsNoClaimAboutAMean) {
  std::vector<Evidence> studies;
  for (const char* name : {"one", "two", "three"})
    studies.push_back(study_with(name, 1000, kGains));
  const auto forbid = [&](size_t study, Verdict verdict) {
    for (auto& cell : studies[study].tasks.front().arms.back().cells)
      if (cell.primary) cell.contrast->verdict = verdict;
  };
  forbid(1, Verdict::not_learned);
  forbid(2, Verdict::unstable);
  const auto arm = pool(studies, {}).arms.front();
  EXPECT_EQ(arm.settings.size(), 1U);
  EXPECT_EQ(arm.left_out,
            (std::vector<std::string>{"two, copy (not learned)", "three, copy (unstable)"}));
  EXPECT_EQ(arm.no_verdict, "1 setting with some scatter; pooling takes 3");
}

TEST(Together, DecidesByWhatAFurtherStudyWouldFind) {
  const auto verdict = [](const std::vector<double>& shifts, const std::string& more) {
    std::vector<Evidence> studies;
    for (const double shift : shifts)
      studies.push_back(study_with(std::to_string(studies.size()), 1000, shifted_by(shift), more));
    return pool(studies, {}).arms.front().sizes.front().verdict;
  };
  EXPECT_EQ(verdict({0, 0.01, -0.01, 0.005, -0.005}, kCompare), PooledVerdict::better);
  EXPECT_EQ(verdict({-0.2, -0.19, -0.21, -0.2, -0.2}, kCompare), PooledVerdict::worse);
  const std::string margin = "compare: {baseline: base, metric: exact_match, margin: 0.2}\n";
  EXPECT_EQ(verdict({-0.1, -0.11, -0.09, -0.1, -0.1}, margin), PooledVerdict::within_margin);
  EXPECT_EQ(verdict({-0.1, -0.11, -0.09, -0.1, -0.1}, kCompare), PooledVerdict::undecided);
}

TEST(Together, OfALossIsBetterWhereItIsLess) {
  std::vector<Evidence> studies;
  for (const char* name : {"one", "two", "three"})
    studies.push_back(study_with(name, 1000, kGains));
  for (auto& one : studies)
    for (auto& arm : one.tasks.front().arms)
      for (auto& cell : arm.cells) cell.direction = Direction::lower;
  EXPECT_EQ(pool(studies, {}).arms.front().sizes.front().verdict, PooledVerdict::worse);
}

TEST(Together, FollowsASlopeOverParametersButNotFarBeyondThem) {
  std::vector<Evidence> studies;
  for (const double parameters : {1000., 2000., 4000., 8000., 16000., 32000.})
    studies.push_back(study_with(std::to_string(studies.size()), parameters,
                                 shifted_by(-0.02 * std::log10(parameters / 1000))));
  const std::vector<double> wanted{100'000, 1'000'000};
  const auto arm = pool(studies, wanted).arms.front();
  EXPECT_EQ(arm.slope, "parameters") << "tokens a parameter are the same";
  ASSERT_EQ(arm.sizes.size(), 4U) << "a million is more than ten times 32,000";
  EXPECT_EQ(arm.sizes[0].parameters, 1000);
  EXPECT_EQ(arm.sizes[1].parameters, std::round(std::sqrt(1000. * 32000)));
  EXPECT_NEAR(arm.sizes[3].effect.mean, 0.1 - 0.02 * 2, 1e-6);
  EXPECT_LT(arm.sizes[0].effect.mean, arm.sizes[0].effect.prediction.high);
}

TEST(Together, CorrectsForAllArms) {
  std::vector<Evidence> studies;
  for (const char* name : {"one", "two", "three"})
    studies.push_back(study_with(name, 1000, kGains));
  EXPECT_DOUBLE_EQ(pool(studies, {}).confidence, 0.95);
  studies.back().tasks.front().arms.back().name = "b";
  EXPECT_DOUBLE_EQ(pool(studies, {}).confidence, 0.975);
}

TEST(Together, SaysWhatCannotBePooled) {
  const std::vector<Evidence> two{study_with("one", 1000, kGains), study_with("two", 1000, kGains)};
  EXPECT_EQ(pool(two, {}).arms.front().no_verdict, "2 settings with some scatter; pooling takes 3");
  auto four = two;
  four.push_back(study_with("three", 1000, kGains));
  four.push_back(study_with("four", 1000, std::vector(6, 0.0)));
  EXPECT_EQ(pool(four, {}).arms.front().no_verdict,
            "3 of 4 settings with some scatter; pooling takes 3, and scatter in all");
  EXPECT_THROW(pool(std::span(two).first(1), {}), UsageError);
  auto other = two;
  other.back().tasks.front().arms.back().changes = {{"model.dropout", "0.1", "0.2"}};
  EXPECT_EQ(refusal_of<UsageError>([&] { pool(other, {}); }),
            "the arm a changes model.layers in one and model.dropout in two, so that its effects "
            "are not of one thing; give one of them another name");
}

}  // namespace
}  // namespace ablate::analysis
