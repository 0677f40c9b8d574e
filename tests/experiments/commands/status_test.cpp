#include "tests/experiments/program.h"
#include "tests/experiments/waiting.h"

namespace ablate::commands {
namespace {

class StatusTest : public ProgramTest {
 protected:
  std::vector<nlohmann::json> status(const std::string& output) const {
    return json_lines(output_of(program("status", folder_ / output / "tiny", "--json")));
  }
  std::string train(const std::string& more) const {
    return kProgram + " train " + run("out").string() + " " + more + " 2>&1";
  }
};

TEST_F(StatusTest, TellsWhatARunHasComeTo) {
  ASSERT_EQ(shell(command("out", "--launcher print")).code, 0);
  auto runs = status("out");
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].at("run"), "copy/base/seed-1");
  EXPECT_EQ(runs[0].at("state"), "new");
  EXPECT_EQ(runs[0].at("step_age"), -1);
  ASSERT_EQ(end_of_stopped(train(""), run("out")), 75);  // one update behind the save of step 7
  ASSERT_EQ(end_of_stopped(train(""), run("out")), 75);  // asked at its start: after one more
  runs = status("out");
  EXPECT_EQ(runs[0].at("state"), "interrupted");
  EXPECT_EQ(runs[0].at("step"), 5) << "the last that was logged";
  EXPECT_EQ(runs[0].at("steps"), 60);
  EXPECT_GT(runs[0].at("loss").get<double>(), 0);
  EXPECT_EQ(runs[0].at("why"), "saved at step 9");
  EXPECT_EQ(runs[0].at("seconds_left"), "NaN") << "it does not run";
  EXPECT_EQ(runs[0].at("restarts"), 1);
  EXPECT_NE(runs[0].at("since"), "");
  ASSERT_EQ(shell(train("")).code, 0);
  EXPECT_EQ(status("out")[0].at("state"), "finished");
}

TEST_F(StatusTest, WhatStartsFromAFailedRunIsBlockedAndNothingIsLeftToWatch) {
  append(
      "arms:\n"
      "  base: {}\n"
      "  second: { training.init_from: { arm: base } }\n"
      "  third: { training.init_from: { arm: second } }\n");
  ASSERT_EQ(shell(command("out", "--launcher print")).code, 0);
  EXPECT_EQ(status("out")[0].at("state"), "new");
  write_file(run("out") / "failure.json",
             R"({"exit_code": 5, "attempts": 1, "message": "nan", "job": ""})");
  std::map<std::string, std::vector<std::string>> seen;
  for (const auto& run : status("out")) seen[run.at("run")] = {run.at("state"), run.at("why")};
  using Why = std::vector<std::string>;
  EXPECT_EQ(seen["copy/base/seed-1"], (Why{"failed", "exit code 5: nan"}));
  EXPECT_EQ(seen["copy/second/seed-1"],
            (Why{"blocked", "starts from copy/base/seed-1, which has failed"}));
  EXPECT_EQ(seen["copy/third/seed-1"],
            (Why{"blocked", "starts from copy/second/seed-1, which is blocked"}));
  EXPECT_TRUE(ends(shell("timeout 60 " + kProgram + " status --watch " +
                         (folder_ / "out/tiny").string() + " 2>&1"),
                   0));
}

TEST_F(StatusTest, ARunIsRunningWhileItsProcessLivesAndLostAfterwards) {
  ASSERT_EQ(shell(command("out", "--launcher print")).code, 0);
  pid_t process = 0;
  {
    const HeldBeforeSaving held(run("out"));
    process = start_process(train(""));
    ASSERT_TRUE(eventually([&] { return !read_file(run("out") / "metrics.jsonl").empty(); }));
    const auto running = status("out")[0];
    EXPECT_EQ(running.at("state"), "running");
    const double step = running.at("step"), left = running.at("seconds_left");
    const auto logged =
        nlohmann::json::parse(lines_of(read_file(run("out") / "metrics.jsonl")).back());
    ASSERT_EQ(logged.at("step"), step);
    EXPECT_NEAR(left, logged.at("seconds").get<double>() / step * (60 - step), 1e-9);
    kill(-process, SIGKILL);
    EXPECT_EQ(end_of(process), 128 + SIGKILL);
  }
  const auto lost = status("out")[0];
  EXPECT_EQ(lost.at("state"), "lost");
  EXPECT_EQ(lost.at("why"), "its process is gone; it continues from its last save");
  const auto output = output_of(shell("timeout 60 " + kProgram + " status --watch " +
                                      (folder_ / "out/tiny").string() + " 2>&1"));
  EXPECT_EQ(lines_of(output).back(),
            "nobody works on this study; repeat its 'ablate run' to continue it");
}

TEST_F(StatusTest, ASupervisedRunThatFailsSaysWhy) {
  ASSERT_EQ(shell(command("out", "--launcher print --set data.examples.train=1")).code, 0);
  write_file(run("out") / "metrics.jsonl", "no JSON\n");
  std::filesystem::create_directories(run("out") / "checkpoints/step-00000007");
  EXPECT_TRUE(ends(shell(train("--retries 1")), 4));
  const auto failure = read_json(run("out") / "failure.json");
  EXPECT_EQ(failure.at("exit_code"), 4);
  EXPECT_EQ(failure.at("attempts"), 1) << "a damaged checkpoint is not tried again";
  EXPECT_NE(read_file(run("out") / "log.txt"), "");
}

TEST_F(StatusTest, ASupervisedRunThatIsKilledBeginsAgain) {
  ASSERT_EQ(shell(command("out", "--launcher print")).code, 0);
  pid_t supervisor = 0;
  {
    const HeldBeforeSaving held(run("out"));
    supervisor = start_process(train("--retries 1"));
    ASSERT_TRUE(eventually([&] { return !read_file(run("out") / "metrics.jsonl").empty(); }));
    const auto children = shell("pgrep -P " + std::to_string(supervisor)).output;
    ASSERT_FALSE(children.empty());
    kill(std::stoi(children), SIGKILL);
  }
  EXPECT_EQ(end_of(supervisor), 0);
  const auto starts = read_json(run("out") / "environment.json").at("starts");
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_FALSE(starts.at(0).at("ended"));
  EXPECT_TRUE(starts.at(1).at("ended"));
  EXPECT_EQ(starts.at(1).at("to_step"), 60);
}

}  // namespace
}  // namespace ablate::commands
