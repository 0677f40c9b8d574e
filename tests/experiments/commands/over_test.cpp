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

TEST_F(Over, AStudyIsDecidedByTheMeanOverItsLengths) {
  write("over: lengths");
  const auto outcome = ablate("run tiny.yaml --output out");
  ASSERT_TRUE(ends(outcome, 0, "over lengths 3 to 4, idle ("));
  const auto task = tasks().at(0);
  EXPECT_EQ(task.at("comparisons"), 1);
  EXPECT_EQ(task.at("arms").at(1).at("cells").at(0).at("over"), "lengths");
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
  EXPECT_EQ(tasks().at(0).at("parts"), nlohmann::json({"copy", "sort"}));
  EXPECT_TRUE(says(page(), "Results: all tasks"));
}

}  // namespace
}  // namespace ablate
