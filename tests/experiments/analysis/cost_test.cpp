#include "experiments/analysis/cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "experiments/analysis/figure.h"
#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"
#include "training/storage/errors.h"

namespace ablate::analysis {
namespace {

using config::Resource;

/// Validations after 10, 20, ... steps, each of which takes 8 tokens, 100 FLOPs and half a second.
Validations validations(const std::vector<double>& values) {
  Validations run;
  for (const double value : values) {
    const double steps = 10.0 * static_cast<double>(run.size() + 1);
    run.push_back({{steps, 8 * steps, 100 * steps, steps / 2}, value});
  }
  return run;
}

TEST(CostOf, IsReadOffTheStraightLineToTheValidationThatGetsThere) {
  const auto run = validations({4, 3, 1, 2});
  EXPECT_EQ(cost_of(run, Resource::steps, {2.5, Direction::lower}).value, 22.5);
  EXPECT_EQ(cost_of(run, Resource::tokens, {2.5, Direction::lower}).value, 180);
  EXPECT_EQ(cost_of(run, Resource::flops, {2.5, Direction::lower}).value, 2250);
  EXPECT_EQ(cost_of(run, Resource::seconds, {2.5, Direction::lower}).value, 11.25);
  EXPECT_EQ(cost_of(run, Resource::steps, {1, Direction::lower}).value, 30) << "itself";
  EXPECT_EQ(cost_of(run, Resource::steps, {2, Direction::lower}).value, 25) << "the first time";
  EXPECT_EQ(cost_of(validations({0.2, 0.4}), Resource::steps, {0.3, Direction::higher}).value, 15);
}

TEST(CostOf, IsABoundBeforeTheFirstAndAfterTheLastValidation) {
  const auto run = validations({4, 3});
  const auto never = cost_of(run, Resource::steps, {2, Direction::lower});
  EXPECT_EQ(never.value, 20);
  EXPECT_EQ(never.bound, Bound::above);
  const auto at_once = cost_of(run, Resource::steps, {5, Direction::lower});
  EXPECT_EQ(at_once.value, 10);
  EXPECT_EQ(at_once.bound, Bound::below);
  EXPECT_TRUE(std::isnan(cost_of({}, Resource::steps, {5, Direction::lower}).value));
  EXPECT_TRUE(std::isnan(cost_of(run, Resource::steps, {NAN, Direction::lower}).value));
}

TEST(CostRatio, OfBoundsIsABoundOrNotKnown) {
  const Cost exact{10}, above{10, Bound::above}, below{10, Bound::below};
  EXPECT_EQ(ratio_of({5}, exact).value, 0.5);
  EXPECT_EQ(ratio_of({5}, exact).bound, Bound::exact);
  EXPECT_EQ(ratio_of(above, exact).bound, Bound::above);
  EXPECT_EQ(ratio_of(below, exact).bound, Bound::below);
  EXPECT_EQ(ratio_of(exact, above).bound, Bound::below) << "the baseline needs more";
  EXPECT_EQ(ratio_of(exact, below).bound, Bound::above);
  EXPECT_EQ(ratio_of(above, below).bound, Bound::above);
  EXPECT_EQ(ratio_of(above, above).bound, Bound::open);
  EXPECT_TRUE(std::isnan(ratio_of(above, above).value));
  EXPECT_TRUE(std::isnan(ratio_of({}, exact).value));
}

TEST(CostRatio, IsWrittenWithItsIntervalOrItsBounds) {
  const auto exact = Bound::exact, above = Bound::above, below = Bound::below;
  EXPECT_EQ(ratio_figure({.values = {0.8, 0.86},
                          .bounds = {exact, exact},
                          .mean = 0.829,
                          .interval = statistics::Interval{0.786, 0.884}}),
            "0.83 (0.79 to 0.88)");
  EXPECT_EQ(ratio_figure({.values = {0.0123}, .bounds = {exact}, .mean = 0.0123}), "0.012");
  EXPECT_EQ(ratio_figure({.values = {1, 1.2}, .bounds = {above, above}}), "> 1.00");
  EXPECT_EQ(ratio_figure({.values = {1, 0.5, 0.25, NAN}, .bounds = {above, exact, below, exact}}),
            "> 1.00 in 1 of 3 seeds, < 0.25 in 1 of 3 seeds");
  EXPECT_EQ(ratio_figure({.values = {NAN, 0.5}, .bounds = {Bound::open, exact}}),
            "open in 1 of 2 seeds");
  EXPECT_EQ(ratio_figure({.values = {NAN}, .bounds = {exact}}), "-");
}

const std::string kSteps = "steps_to_target";

/// A study whose validations, after 10, 20 and 30 steps, are of these perplexities; none of a run
/// that has no log. A step of the arm takes twice the FLOPs of the baseline's.
class CostToTest : public testing::Test {
 protected:
  using Perplexities = std::vector<std::vector<double>>;  // of each seed

  Evidence evidence(const Perplexities& base, const Perplexities& more,
                    const std::string& expect = "") {
    records::StudyRuns runs{.folder = {file_.folder() / "s"}};
    for (const auto& [arm, seeds] : {std::pair{std::string("base"), base}, {"more", more}})
      for (size_t i = 0; i < seeds.size(); ++i) {
        const auto seed = static_cast<int64_t>(i + 1);
        runs.results.push_back(result_of(arm, seed, 0.5));
        runs.results.back().steps = 30;
        write_log(arm, seed, seeds[i]);
      }
    const auto yaml = study_yaml(
        static_cast<int>(base.size()), {"more"},
        "compare: {baseline: base, metric: " + metric_ + ", cost_to: " + target_ + "}\n" + expect);
    return evidence_of(replaced(yaml, "base: {", "base: {training.evaluate_every: 10, "), runs);
  }

  const Cell& cell(const Evidence& evidence, const std::string& arm) const {
    return cell_of(evidence, arm, kSteps, "");
  }

  std::filesystem::path log_of(const std::string& arm, int64_t seed) const {
    return file_.folder() / "s/copy" / arm / ("seed-" + std::to_string(seed)) / "metrics.jsonl";
  }

  std::string metric_ = "exact_match";  // that arms are compared by
  std::string target_ = "{validation_perplexity: 5}";

 private:
  void write_log(const std::string& arm, int64_t seed, const std::vector<double>& perplexities) {
    if (perplexities.empty()) return;
    std::filesystem::create_directories(log_of(arm, seed).parent_path());
    std::ofstream log(log_of(arm, seed));
    int step = 0;
    for (const double perplexity : perplexities) {
      step += 10;
      const nlohmann::json spent{{"step", step},
                                 {"tokens", 8 * step},
                                 {"flops", (arm == "base" ? 100.0 : 200.0) * step},
                                 {"seconds", step / 2.0}};
      auto training = spent, validation = spent;
      training["loss"] = 1.5;
      validation["validation_perplexity"] = perplexity;
      validation["validation_loss"] = std::log(perplexity);
      log << training.dump() << "\n" << validation.dump() << "\n";
    }
  }

  TemporaryFile file_{""};
};

TEST_F(CostToTest, IsComparedInEveryResourceWithTheBaselinesOfTheSameSeed) {
  const auto found = evidence({{9, 5, 4}, {9, 8, 5}}, {{7, 3, 2}, {9, 5, 4}});
  EXPECT_EQ(cell(found, "base").sample.values, (std::vector<double>{20, 30}));
  EXPECT_EQ(cell(found, "more").sample.values, (std::vector<double>{15, 20}));
  EXPECT_EQ(cell(found, "more").contrast.value().mean, -7.5);
  const auto& ratios = arm_of(found, "more").cost_ratios;
  ASSERT_EQ(ratios.size(), 4U);
  EXPECT_EQ(ratios[0].values, (std::vector<double>{0.75, 20 / 30.0}));
  EXPECT_NEAR(ratios[0].mean, std::sqrt(0.75 * 2 / 3), 1e-12);
  EXPECT_NEAR(ratios[2].mean, 2 * ratios[0].mean, 1e-12) << "FLOPs";
  EXPECT_EQ(ratios[3].values, ratios[0].values) << "seconds";
  EXPECT_FALSE(ratios[0].interval.has_value()) << "two seeds reject no ratio";
  EXPECT_TRUE(arm_of(found, "base").cost_ratios.empty());
  EXPECT_EQ(found.tasks[0].target, "a validation perplexity of at most 5");
}

TEST_F(CostToTest, OfTheBaselinesOwnEndIsOneForAnArmThatLearnsAlike) {
  target_ = "baseline";
  const std::vector<double> first{9, 5, 4}, second{9, 3, 6};  // which ends above its best
  const auto found = evidence({first, second}, {first, second});
  EXPECT_EQ(arm_of(found, "more").cost_ratios[0].values, (std::vector<double>{1, 1}));
  EXPECT_EQ(cell(found, "base").sample.values[0], 30);
  EXPECT_LT(cell(found, "base").sample.values[1], 20) << "where it first was as good as at its end";
  target_ = "{validation_perplexity: 3.5}";
  const auto neither = evidence({first, second}, {first, {9, 2, 2}});
  EXPECT_TRUE(std::isnan(arm_of(neither, "more").cost_ratios[0].mean)) << "of one seed of two";
  target_ = "baseline";
  const auto slower = evidence({first, second}, {{9, 5, 4.5}, second});
  EXPECT_EQ(ratio_figure(arm_of(slower, "more").cost_ratios[0]), "> 1.00 in 1 of 2 seeds");
  EXPECT_TRUE(std::isnan(arm_of(slower, "more").cost_ratios[0].mean));
}

TEST_F(CostToTest, ARunThatNeverGetsThereIsABoundAndNothingIsCompared) {
  const auto found = evidence({{9, 5, 6}, {9, 3, 2}}, {{9, 8, 7}, {7, 5, 4}},
                              "expect: [more." + kSteps + " > base." + kSteps + "]\n");
  const auto& sample = cell(found, "more").sample;
  EXPECT_EQ(sample.values, (std::vector<double>{30, 20}));
  EXPECT_EQ(sample.censored, (std::vector<bool>{true, false}));
  EXPECT_EQ(mean_figure(sample, kSteps), "> 25");
  EXPECT_EQ(value_figure(sample, 0, kSteps), "> 30");
  EXPECT_EQ(value_figure(sample, 1, kSteps), "20");
  EXPECT_FALSE(sample.interval);
  EXPECT_TRUE(std::isnan(sample.deviation));
  EXPECT_FALSE(cell(found, "more").contrast);
  EXPECT_FALSE(cell(found, "base").best);
  EXPECT_FALSE(found.expectations.at(0).holds);
  EXPECT_EQ(found.expectations.at(0).numbers,
            "more." + kSteps + " is > 25: a run has not reached the target");
}

TEST_F(CostToTest, ARunThatIsThereAtOnceIsABoundFromAbove) {
  const auto found = evidence({{9, 5, 6}, {9, 3, 2}}, {{4, 3, 2}, {7, 5, 4}},
                              "expect: [more." + kSteps + " < base." + kSteps + "]\n");
  const auto& sample = cell(found, "more").sample;
  EXPECT_EQ(sample.at_once, (std::vector<bool>{true, false}));
  EXPECT_EQ(mean_figure(sample, kSteps), "< 15");
  EXPECT_EQ(value_figure(sample, 0, kSteps), "< 10");
  EXPECT_EQ(value_figure(sample, 1, kSteps), "20");
  EXPECT_TRUE(std::isnan(sample.deviation));
  EXPECT_FALSE(cell(found, "more").best);
  EXPECT_FALSE(found.expectations.at(0).holds);
  EXPECT_EQ(found.expectations.at(0).numbers,
            "more." + kSteps + " is < 15: a run was at the target at its first validation");
  const auto both = evidence({{9, 5, 6}, {9, 3, 2}}, {{4, 3, 2}, {9, 8, 7}});
  EXPECT_EQ(mean_figure(cell(both, "more").sample, kSteps), "-") << "no bound of either kind";
}

TEST_F(CostToTest, AreTestedWhereEveryRunGetsThere) {
  metric_ = kSteps;
  const std::vector<double> slow{9, 8, 4}, fast{4, 3, 2};
  const CostToTest::Perplexities base(6, slow);
  auto more = Perplexities(6, fast);
  auto found = evidence(base, more);
  EXPECT_EQ(cell(found, "more").contrast->verdict, Verdict::better);
  EXPECT_EQ(found.answer,
            "more: 18 less steps to the target than base (18 to 18), in all 6 seeds: better.");
  EXPECT_EQ(found.tasks[0].family,
            "The p values are of the one primary comparison of copy: 1 arm.");
  more[3] = {9, 9, 9};
  found = evidence(base, more);
  const auto& contrast = *cell(found, "more").contrast;
  EXPECT_EQ(contrast.verdict, Verdict::censored);
  EXPECT_TRUE(std::isnan(contrast.difference.p));
  EXPECT_EQ(found.answer, "No claim: a run has not reached the target.");
}

TEST_F(CostToTest, OfRunsThatAreThereAtOnceNothingIsSaid) {
  metric_ = kSteps + ", claim: equal, margin: 1";
  const auto found = evidence(Perplexities(6, {4, 3, 2}), Perplexities(6, {2, 2, 1}));
  EXPECT_EQ(cell(found, "more").contrast->verdict, Verdict::censored);
  EXPECT_EQ(cell(found, "more").contrast->outcome, Outcome::inconclusive);
  EXPECT_TRUE(says(found.answer, "at the target at their first validation"));
}

TEST_F(CostToTest, ARunThatWasNotValidatedHasNone) {
  const auto found = evidence({{4}, {}}, {{4}, {3}});
  EXPECT_EQ(cell(found, "base").sample.count, 1);
  EXPECT_TRUE(cell(found, "base").sample.censored.empty());
}

TEST_F(CostToTest, ADamagedLogIsAnError) {
  evidence({{4}}, {{4}});
  std::ofstream(log_of("base", 1)) << R"({"step": 1, "validation_perplexity": "low"})"
                                   << "\n";
  EXPECT_THROW(evidence({{}}, {{4}}), training::CheckpointError);
}

}  // namespace
}  // namespace ablate::analysis
