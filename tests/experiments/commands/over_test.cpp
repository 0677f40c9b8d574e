#include "tests/experiments/program.h"
#include "tests/says.h"

namespace ablate {
namespace {

/// Two seeds of two arms, tested on two lengths.
class Over : public ProgramTest {
 protected:
  void write(const std::string& compare) const {
    change("[4, 5]", "[3, 4]");
    change("[1]", "[1, 2]");
    append(
        "arms: { trained: {}, idle: { training.steps: 1 } }\n"
        "compare: { baseline: trained, metric: perplexity, test: t, allow: [steps], " +
        compare + " }\n");
  }
  nlohmann::json tasks() const { return read_json(folder_ / "out/tiny/results.json").at("tasks"); }
  std::string page() const { return read_file(folder_ / "out/tiny/report.html"); }
};

/// The values of perplexity of a cell.
std::vector<double> values_of(const nlohmann::json& arm, const std::string& test_set) {
  for (const auto& cell : arm.at("cells"))
    if (cell.at("test_set") == test_set && cell.at("metric") == "perplexity")
      return cell.at("sample").at("values");
  return {};
}

TEST_F(Over, AStudyIsDecidedByTheMeanOverItsLengths) {
  write("over: lengths");
  const auto outcome = ablate("run tiny.yaml --output out");
  ASSERT_TRUE(ends(outcome, 0, "over lengths 3 to 4, idle ("));
  const auto task = tasks().at(0);
  EXPECT_EQ(task.at("comparisons"), 1);
  const auto& arm = task.at("arms").at(1);
  EXPECT_EQ(arm.at("cells").at(0).at("over"), "lengths");
  const auto three = values_of(arm, "length 3"), four = values_of(arm, "length 4");
  ASSERT_EQ(three.size(), 2U);
  for (size_t seed = 0; seed < 2; ++seed)
    EXPECT_NEAR(values_of(arm, "lengths 3 to 4")[seed], (three[seed] + four[seed]) / 2, 1e-9);
  EXPECT_TRUE(says(page(), "lengths 3 to 4"));
  EXPECT_TRUE(ends(ablate("report out/tiny --format csv"), 0, "copy,idle,false,lengths 3 to 4,"));
  EXPECT_TRUE(ends(ablate("power out/tiny --difference 1"), 0, "lengths 3 to 4"));
}

TEST_F(Over, AStudyIsDecidedByTheMeanOverItsTasks) {
  write("over: tasks");
  append("tasks: { copy: {}, sort: { data.task: sort } }\n");
  EXPECT_TRUE(
      ends(ablate("run tiny.yaml --dry-run"), 0, "1 comparison of the mean over all tasks "));
  ASSERT_TRUE(ends(ablate("run tiny.yaml --output out"), 0, "all tasks, idle ("));
  const auto all = tasks().at(0);
  EXPECT_EQ(all.at("parts"), nlohmann::json({"copy", "sort"}));
  double mean = 0;
  for (const int task : {1, 2})
    for (const char* length : {"length 3", "length 4"})
      mean += values_of(tasks().at(task).at("arms").at(1), length).at(0) / 4;
  EXPECT_NEAR(values_of(all.at("arms").at(1), "2 tasks").at(0), mean, 1e-9);
  EXPECT_TRUE(says(page(), "Results: all tasks"));
}

}  // namespace
}  // namespace ablate
