#include <nlohmann/json.hpp>

#include "tests/experiments/program.h"

namespace ablate::experiments {
namespace {

using nlohmann::json;

/// A run of the tiny study within a budget.
class RunLengthTest : public ProgramTest {
 protected:
  json result_of(const std::string& output, const std::string& budget, int seed = 1) const {
    const auto outcome = shell(command(
        output, "--seeds " + std::to_string(seed) + " --set 'training.budget=" + budget + "'"));
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    const auto folder = run(output).parent_path() / ("seed-" + std::to_string(seed));
    return json::parse(read_file(folder / "result.json"));
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
  // At the first test set's length of 4 pieces; training sides are shorter, attention cheaper.
  EXPECT_NEAR(result.at("tokens").get<double>() * one, 1e8, 0.15e8);
}

TEST_F(RunLengthTest, ATimeBudgetFixesTheNumberOfUpdatesOnce) {
  const auto first = result_of("out", "{kind: seconds, seconds: 0.5}");
  EXPECT_GT(first.at("steps"), 20);
  EXPECT_GT(first.at("training_seconds"), 0.1);
  EXPECT_LT(first.at("training_seconds"), 2.5);
  std::filesystem::remove(run("out") / "result.json");
  std::filesystem::remove_all(run("out") / "checkpoints");
  auto environment = json::parse(read_file(run("out") / "environment.json"));
  environment["steps"] = 33;
  write_file(run("out") / "environment.json", environment.dump());
  EXPECT_EQ(result_of("out", "{kind: seconds, seconds: 0.5}").at("steps"), 33);
}

}  // namespace
}  // namespace ablate::experiments
