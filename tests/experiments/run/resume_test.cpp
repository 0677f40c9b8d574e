#include <chrono>
#include <random>
#include <thread>

#include "tests/experiments/program.h"

namespace ablate::run {
namespace {

/// What must be the same, byte for byte, after any interruption.
std::string state_of(const std::filesystem::path& run) {
  const auto last = run / "checkpoints" / "step-00000060";
  return read_file(last / "model.safetensors") + read_file(last / "optimizer.safetensors") +
         read_file(last / "state.json") + read_file(run / "metrics.jsonl");
}

using Clock = std::chrono::steady_clock;

/// Whether the process ended by itself before `stop` said so; otherwise it is killed.
template <class Stop>
bool ended_before(pid_t process, Stop&& stop) {
  int status = 0;
  while (waitpid(process, &status, WNOHANG) == 0) {
    if (stop()) {
      kill(-process, SIGKILL);
      waitpid(process, &status, 0);
      return false;
    }
    std::this_thread::yield();
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return true;
}

TEST_F(ProgramTest, KilledRunsContinueBitForBit) {
  const auto start_of_whole = Clock::now();
  ASSERT_EQ(shell(command("whole")).code, 0);
  const auto whole = Clock::now() - start_of_whole;
  const auto expected = state_of(run("whole"));
  ASSERT_GT(expected.size(), 10'000U);
  std::mt19937 random(7);
  for (int trial = 0; trial < 3; ++trial) {
    const auto name = "killed" + std::to_string(trial);
    const size_t bytes = 1 + random() % (read_file(run("whole") / "metrics.jsonl").size() / 2);
    // The first kill meets a training under way on any machine; the others come at any moment.
    ASSERT_FALSE(ended_before(start_process(command(name)), [&] {
      return read_file(run(name) / "metrics.jsonl").size() >= bytes;
    }));
    for (int attempt = 0; attempt < 5; ++attempt) {
      const auto end = Clock::now() + whole * (random() % 100) / 100;
      if (ended_before(start_process(command(name)), [&] { return Clock::now() >= end; })) break;
    }
    ASSERT_EQ(shell(command(name)).code, 0);
    EXPECT_EQ(state_of(run(name)), expected) << "trial " << trial;
  }
}

TEST_F(ProgramTest, ATerminatedRunIsSavedAndContinues) {
  ASSERT_EQ(shell(command("whole")).code, 0);
  int interrupted = 0;
  for (int attempt = 0; attempt < 40; ++attempt) {
    const pid_t process = start_process(command("stopped"));
    const auto checkpoints = run("stopped") / "checkpoints";
    int status = 0;
    while (attempt == 0 && !std::filesystem::exists(run("stopped") / "metrics.jsonl") &&
           waitpid(process, &status, WNOHANG) == 0)
      std::this_thread::yield();
    if (attempt == 0) kill(process, SIGTERM);
    waitpid(process, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 0) break;
    ASSERT_EQ(WEXITSTATUS(status), 75);
    ++interrupted;
  }
  EXPECT_GE(interrupted, 1);
  EXPECT_EQ(state_of(run("stopped")), state_of(run("whole")));
}

TEST_F(ProgramTest, AFinishedRunIsSkipped) {
  ASSERT_EQ(shell(command("out")).code, 0);
  const auto before = std::filesystem::last_write_time(run("out") / "result.json");
  const auto again = shell(command("out"));
  EXPECT_EQ(again.code, 0);
  EXPECT_NE(again.output.find("1 runs, 0 to do"), std::string::npos) << again.output;
  EXPECT_EQ(std::filesystem::last_write_time(run("out") / "result.json"), before);
}

TEST_F(ProgramTest, ARunOfAnotherConfigurationIsNotTouched) {
  ASSERT_EQ(shell(command("out", "--set training.steps=10")).code, 0);
  std::filesystem::remove(run("out") / "result.json");
  const auto other = shell(command("out", "--set training.steps=12"));
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.output.find("training.steps: 10 there, 12 now"), std::string::npos)
      << other.output;
}

}  // namespace
}  // namespace ablate::run
