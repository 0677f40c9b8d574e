#include <csignal>

#include "tests/experiments/program.h"
#include "tests/experiments/waiting.h"

namespace ablate::run {
namespace {

/// What must be the same, byte for byte but for the seconds, after any interruption.
std::string state_of(const std::filesystem::path& run) {
  const auto last = run / "checkpoints" / "step-00000060";
  return read_file(last / "model.safetensors") + read_file(last / "optimizer.safetensors") +
         without_seconds(read_file(last / "state.json")) + log_of(run);
}

/// Runs that are observed, first save after some step and have logged every fifth before it.
class ResumeTest : public ProgramTest {
 protected:
  std::string start(const std::string& name, int64_t save_after) const {
    const auto steps = std::to_string(save_after);
    return command(name, "--set training.observe.every=10 --set training.save_every=" + steps +
                             " --set training.evaluate_every=" + steps);
  }
  bool logs(const std::string& name, int64_t step) const {
    const auto entry = "\"step\":" + std::to_string(step) + ",";
    return eventually(
        [&] { return read_file(run(name) / "metrics.jsonl").find(entry) != std::string::npos; });
  }
};

TEST_F(ResumeTest, ARunThatIsKilledBeforeASaveEndsBitForBitAsIfItHadNotBeen) {
  for (const int64_t save_after : {7, 25, 50}) {
    SCOPED_TRACE(save_after);
    const auto whole = "whole" + std::to_string(save_after);
    const auto killed = "killed" + std::to_string(save_after);
    ASSERT_EQ(shell(start(whole, save_after)).code, 0);
    {
      const HeldBeforeSaving held(run(killed));
      const pid_t process = start_process(start(killed, save_after));
      EXPECT_TRUE(logs(killed, (save_after - 1) / 5 * 5));
      kill(-process, SIGKILL);
      EXPECT_EQ(end_of(process), 128 + SIGKILL);
    }
    ASSERT_EQ(shell(start(killed, save_after)).code, 0);
    EXPECT_GT(state_of(run(killed)).size(), 10'000U);
    EXPECT_EQ(state_of(run(killed)), state_of(run(whole)));
  }
}

TEST_F(ResumeTest, TextThatEveryEpochWritesAnewAndMuonGoOnBitForBit) {
  const std::string muon = " --set tokenizer.kind=bpe --set training.optimizer.kind=muon";
  const auto dropping = muon + " --set tokenizer.dropout=0.4";
  ASSERT_EQ(shell(start("plain", 25) + muon).code, 0);
  ASSERT_EQ(shell(start("whole", 25) + dropping).code, 0);
  {
    const HeldBeforeSaving held(run("killed"));
    const pid_t process = start_process(start("killed", 25) + dropping);
    EXPECT_TRUE(logs("killed", 20));
    kill(-process, SIGKILL);
    end_of(process);
  }
  ASSERT_EQ(shell(start("killed", 25) + dropping).code, 0);
  EXPECT_EQ(state_of(run("killed")), state_of(run("whole")));
  EXPECT_NE(state_of(run("plain")), state_of(run("whole")));
}

TEST_F(ResumeTest, ARunThatIsAskedToEndIsSavedAndContinuesBitForBit) {
  std::signal(SIGHUP, SIG_DFL);  // the tests may run under nohup
  ASSERT_EQ(shell(start("whole", 25)).code, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const auto stopped = "stopped-" + std::to_string(signal);
    pid_t process = 0;
    {
      const HeldBeforeSaving held(run(stopped));
      process = start_process(start(stopped, 25));
      ASSERT_TRUE(logs(stopped, 20));
      kill(process, signal);
    }
    EXPECT_EQ(end_of(process), 75) << signal;
    EXPECT_TRUE(std::filesystem::exists(run(stopped) / "checkpoints"));
    EXPECT_FALSE(std::filesystem::exists(run(stopped) / "result.json"));
    ASSERT_EQ(shell(start(stopped, 25)).code, 0);
    EXPECT_EQ(state_of(run(stopped)), state_of(run("whole"))) << signal;
  }
}

TEST_F(ResumeTest, AFinishedRunIsSkipped) {
  ASSERT_EQ(shell(command("out")).code, 0);
  const auto before = std::filesystem::last_write_time(run("out") / "result.json");
  EXPECT_TRUE(ends(shell(command("out")), 0, "1 runs, 0 to do"));
  EXPECT_EQ(std::filesystem::last_write_time(run("out") / "result.json"), before);
}

}  // namespace
}  // namespace ablate::run
