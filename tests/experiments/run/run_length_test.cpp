#include "experiments/run/run_length.h"

#include <nlohmann/json.hpp>

#include "tests/experiments/program.h"
#include "training/storage/sealed_json.h"

namespace ablate::run {
namespace {

/// A run of the tiny study within a budget.
class RunLengthTest : public ProgramTest {
 protected:
  nlohmann::json result_of(const std::string& output, const std::string& budget,
                           int seed = 1) const {
    const auto outcome = shell(command(
        output, "--seeds " + std::to_string(seed) + " --set 'training.budget=" + budget + "'"));
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    const auto folder = run(output).parent_path() / ("seed-" + std::to_string(seed));
    return nlohmann::json::parse(read_file(folder / "result.json"));
  }
};

TEST_F(RunLengthTest, ATokenBudgetIsMetWithinABatchAndAlikeForEverySeed) {
  const auto first = result_of("out", "{kind: tokens, tokens: 3000}");
  const auto second = result_of("out", "{kind: tokens, tokens: 3000}", 2);
  EXPECT_NEAR(first.at("tokens").get<double>(), 3000, 160);  // of at most 80 a batch
  EXPECT_EQ(first.at("steps"), second.at("steps"));
}

TEST_F(RunLengthTest, FlopsAreThreeForwardPassesOverTheTokens) {
  const auto result = result_of("out", "{kind: flops, flops: 1.0e8}");
  const double one = 3 * result.at("flops_per_token").get<double>();
  // At the first test set's length of 4 tokens; training sides are shorter, attention cheaper.
  EXPECT_NEAR(result.at("tokens").get<double>() * one, 1e8, 0.15e8);
}

TEST(RunLength, IsTheBudgetDividedByTheCostOfAnUpdateAndAtLeastOne) {
  const UpdateCost cost{.tokens = 50, .flops = 2e6};
  const auto updates = [&](const training::BudgetOptions& budget) {
    training::TrainingOptions options;
    options.steps = 7;
    options.budget = budget;
    return updates_within(options, cost, 0.25);
  };
  EXPECT_EQ(updates(training::StepBudget{}), 7);
  EXPECT_EQ(updates(training::TokenBudget{.tokens = 999}), 19);
  EXPECT_EQ(updates(training::FlopBudget{.flops = 9e6}), 4);
  EXPECT_EQ(updates(training::TimeBudget{.seconds = 10}), 40);
  EXPECT_EQ(updates(training::TimeBudget{.seconds = 0.01}), 1);
}

TEST_F(RunLengthTest, ATimeBudgetFixesTheNumberOfUpdatesOnce) {
  const auto first = result_of("out", "{kind: seconds, seconds: 0.5}");
  EXPECT_GE(first.at("steps"), 1);
  std::filesystem::remove(run("out") / "result.json");
  std::filesystem::remove_all(run("out") / "checkpoints");
  auto environment = nlohmann::json::parse(read_file(run("out") / "environment.json"));
  EXPECT_EQ(environment.at("steps"), first.at("steps"));
  environment["steps"] = 33;
  write_file(run("out") / "environment.json", training::sealed_json(environment));
  EXPECT_EQ(result_of("out", "{kind: seconds, seconds: 0.5}").at("steps"), 33);
}

}  // namespace
}  // namespace ablate::run
