#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/experiments/program.h"

namespace ablate {
namespace {

/// The worst exact match among a run's test sets of trained length.
double least_exact_match(const nlohmann::json& run) {
  double least = 1.0;
  for (const auto& test : run["tests"])
    if (!test["extrapolates"].get<bool>())
      least = std::min(least, test["exact_match"].get<double>());
  return least;
}

/// What the committed studies promise, run as a user runs them.
class StudyTest : public ProgramTest {
 protected:
  std::vector<nlohmann::json> results(const std::string& study, const std::string& more = "") {
    const auto outcome = shell(kProgram + " run " ABLATE_SOURCE "/experiments/studies/" + study +
                               " --json --output " + (folder_ / "out").string() + " " + more +
                               " 2>" + (folder_ / "log").string());
    EXPECT_EQ(outcome.code, 0) << read_file(folder_ / "log");
    std::vector<nlohmann::json> results;
    std::istringstream lines(outcome.output);
    for (std::string line; std::getline(lines, line);)
      results.push_back(nlohmann::json::parse(line));
    return results;
  }
};

TEST_F(StudyTest, CopyIsLearnedFromAnySeed) {
  const auto runs = results("copy.yaml", "--seeds 1,2,3,4,5,6");
  ASSERT_EQ(runs.size(), 6U);
  for (const auto& run : runs) {
    EXPECT_LE(run["validation_perplexity"].get<double>(), 1.02) << run.dump(1);
    EXPECT_GE(least_exact_match(run), 0.98) << run.dump(1);
  }
}

TEST_F(StudyTest, TheQuickstartEndsInAClaimBeyondTheTrainedLength) {
  const auto runs = results("quickstart.yaml");
  ASSERT_EQ(runs.size(), 24U);
  for (const auto& run : runs) {
    if (run["arm"] == "none")
      EXPECT_LE(least_exact_match(run), 0.1) << run.dump(1);
    else
      EXPECT_GE(least_exact_match(run), 0.95) << run.dump(1);
  }
  const auto table = nlohmann::json::parse(read_file(folder_ / "out/quickstart/results.json"));
  const std::vector<std::string> verdicts{"worse", "not_learned", "inconclusive"};
  for (const size_t arm : {0, 1, 2}) {
    const auto& cells = table["tasks"][0]["arms"][arm + 1]["cells"];
    const auto primary = std::find_if(cells.begin(), cells.end(), [](const nlohmann::json& cell) {
      return cell["primary"].get<bool>();
    });
    ASSERT_NE(primary, cells.end());
    EXPECT_EQ((*primary)["test_set"], "length 7");
    EXPECT_EQ((*primary)["contrast"]["verdict"], verdicts[arm]) << primary->dump(1);
  }
}

}  // namespace
}  // namespace ablate
