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

/// Runs that are observed, log every fifth step and first save after the 25th.
class ResumeTest : public ProgramTest {
 protected:
  std::string start(const std::string& name) const {
    return command(name,
                   "--set training.observe.every=10 --set training.save_every=25 --set "
                   "training.evaluate_every=25");
  }
  bool logs_step_20(const std::string& name) const {
    return eventually([&] {
      return read_file(run(name) / "metrics.jsonl").find("\"step\":20,") != std::string::npos;
    });
  }
};

/// Also of text that every epoch writes anew, and by Muon.
TEST_F(ResumeTest, ARunThatIsKilledBeforeASaveEndsBitForBitAsIfItHadNotBeen) {
  const std::string muon = " --set tokenizer.kind=bpe --set training.optimizer.kind=muon";
  const auto dropping = muon + " --set tokenizer.dropout=0.4";
  ASSERT_EQ(shell(start("plain") + muon).code, 0);
  ASSERT_EQ(shell(start("whole") + dropping).code, 0);
  {
    const HeldBeforeSaving held(run("killed"));
    const pid_t process = start_process(start("killed") + dropping);
    EXPECT_TRUE(logs_step_20("killed"));
    kill(-process, SIGKILL);
    EXPECT_EQ(end_of(process), 128 + SIGKILL);
  }
  ASSERT_EQ(shell(start("killed") + dropping).code, 0);
  EXPECT_GT(state_of(run("killed")).size(), 10'000U);
  EXPECT_EQ(state_of(run("killed")), state_of(run("whole")));
  EXPECT_NE(state_of(run("plain")), state_of(run("whole")));
}

TEST_F(ResumeTest, ARunThatIsAskedToEndIsSavedAndContinuesBitForBit) {
  std::signal(SIGHUP, SIG_DFL);  // the tests may run under nohup
  ASSERT_EQ(shell(start("whole")).code, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const auto stopped = "stopped-" + std::to_string(signal);
    pid_t process = 0;
    {
      const HeldBeforeSaving held(run(stopped));
      process = start_process(start(stopped));
      ASSERT_TRUE(logs_step_20(stopped));
      kill(process, signal);
    }
    EXPECT_EQ(end_of(process), 75) << signal;
    EXPECT_TRUE(std::filesystem::exists(run(stopped) / "checkpoints"));
    EXPECT_FALSE(std::filesystem::exists(run(stopped) / "result.json"));
    ASSERT_EQ(shell(start(stopped)).code, 0);
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
