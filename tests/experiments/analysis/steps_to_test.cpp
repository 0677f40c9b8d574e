#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "experiments/analysis/figure.h"
#include "tests/experiments/analysis/synthetic.h"
#include "training/storage/errors.h"

namespace ablate::analysis {
namespace {

const std::string kSteps = "steps_to_validation_perplexity";

/// A study whose validations, after 10, 20 and 30 steps, are of these perplexities; none of a run
/// that has no log.
class StepsToTest : public testing::Test {
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
    return make_evidence(
        study_of(study_yaml(static_cast<int>(base.size()), {"more"},
                            "compare: {baseline: base, metric: " + metric_ +
                                ", steps_to: {validation_perplexity: 5}}\n" + expect)),
        runs);
  }

  const Cell& cell(const Evidence& evidence, const std::string& arm) const {
    return cell_of(evidence, arm, kSteps, "");
  }

  std::filesystem::path log_of(const std::string& arm, int64_t seed) const {
    return file_.folder() / "s/copy" / arm / ("seed-" + std::to_string(seed)) / "metrics.jsonl";
  }

  std::string metric_ = "exact_match";  // that arms are compared by

 private:
  void write_log(const std::string& arm, int64_t seed, const std::vector<double>& perplexities) {
    if (perplexities.empty()) return;
    std::filesystem::create_directories(log_of(arm, seed).parent_path());
    std::ofstream log(log_of(arm, seed));
    int step = 0;
    for (const double perplexity : perplexities) {
      step += 10;
      log << R"({"step": )" << step << R"(, "loss": 1.5})"
          << "\n"
          << R"({"step": )" << step << R"(, "validation_perplexity": )" << perplexity << "}\n";
    }
  }

  TemporaryFile file_{""};
};

TEST_F(StepsToTest, AreThoseOfTheFirstValidationAtTheValueOrBetter) {
  const auto found = evidence({{9, 5, 6}, {4, 3, 2}}, {{9, 8, 4.5}, {7, 5.1, 4}});
  EXPECT_EQ(cell(found, "base").sample.values, (std::vector<double>{20, 10}));
  EXPECT_EQ(cell(found, "more").sample.values, (std::vector<double>{30, 30}));
  EXPECT_EQ(cell(found, "more").contrast.value().mean, 15);
  EXPECT_TRUE(cell(found, "base").best);
}

TEST_F(StepsToTest, ARunThatNeverGetsThereIsABoundAndNothingIsCompared) {
  const auto found = evidence({{9, 5, 6}, {4, 3, 2}}, {{9, 8, 7}, {7, 4, 4}},
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

TEST_F(StepsToTest, AreTestedWhereEveryRunGetsThere) {
  metric_ = kSteps;
  const std::vector<double> slow{9, 8, 4}, fast{4, 3, 2};
  const StepsToTest::Perplexities base(6, slow);
  auto more = Perplexities(6, fast);
  auto found = evidence(base, more);
  EXPECT_EQ(cell(found, "more").contrast->verdict, Verdict::better);
  EXPECT_EQ(found.answer,
            "copy, steps to validation perplexity: more (10) is better than base (30).");
  EXPECT_EQ(found.tasks[0].family,
            "The p values are of the one primary comparison of copy: 1 arm.");
  more[3] = {9, 9, 9};
  found = evidence(base, more);
  const auto& contrast = *cell(found, "more").contrast;
  EXPECT_EQ(contrast.verdict, Verdict::censored);
  EXPECT_TRUE(std::isnan(contrast.difference.p));
  EXPECT_EQ(found.answer, "No claim: a run has not reached the target.");
}

TEST_F(StepsToTest, ARunThatWasNotValidatedHasNone) {
  const auto found = evidence({{4}, {}}, {{4}, {3}});
  EXPECT_EQ(cell(found, "base").sample.count, 1);
  EXPECT_TRUE(cell(found, "base").sample.censored.empty());
}

TEST_F(StepsToTest, ADamagedLogIsAnError) {
  evidence({{4}}, {{4}});
  std::ofstream(log_of("base", 1)) << R"({"step": 1, "validation_perplexity": "low"})"
                                   << "\n";
  EXPECT_THROW(evidence({{}}, {{4}}), training::CheckpointError);
}

}  // namespace
}  // namespace ablate::analysis
