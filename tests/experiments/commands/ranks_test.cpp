#include <netinet/in.h>
#include <sys/socket.h>

#include "tests/experiments/program.h"
#include "tests/experiments/waiting.h"
#include "tests/says.h"

namespace ablate::commands {
namespace {

namespace fs = std::filesystem;

constexpr int kRankLost = 8;

class RanksTest : public ProgramTest {
 protected:
  RanksTest() { append("    accumulate: 4\n    observe: { every: 20 }\n"); }

  /// Plans the study's run without working on it, and gives its folder.
  fs::path planned(const std::string& output, const std::string& more = "") const {
    EXPECT_EQ(shell(command(output, "--launcher print " + more)).code, 0);
    return run(output);
  }
  std::string train(const fs::path& folder, const std::string& more) const {
    return kProgram + " train " + folder.string() + " --threads 1 " + more + " 2>&1";
  }
  /// What training leaves: curves, weights and the state of the optimizer.
  static std::vector<std::string> trained(const fs::path& folder) {
    const auto last = folder / "checkpoints/step-00000060";
    return {log_of(folder), read_file(last / "model.safetensors"),
            read_file(last / "optimizer.safetensors")};
  }
  std::vector<std::string> undisturbed() const {
    given_runs("alone");
    return trained(run("alone"));
  }
  /// Whether ranks have made updates together.
  static bool is_training(const fs::path& folder) {
    return !read_file(folder / "metrics.jsonl").empty();
  }
  /// Whether a process of start_process() has ended; end_of() still tells how.
  static bool has_ended(pid_t process) {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == process;
  }
  /// The process of that rank which works on the run; 0: there is none.
  static pid_t process_of(const fs::path& folder, int rank) {
    for (const auto& entry : fs::directory_iterator("/proc")) {
      if (read_file(entry.path() / "cmdline").find(folder.string()) == std::string::npos) continue;
      const auto environment = '\0' + read_file(entry.path() / "environ");
      if (environment.find(std::string(1, '\0') + "RANK=" + std::to_string(rank) + '\0') !=
          std::string::npos)
        return std::stoi(entry.path().filename());
    }
    return 0;
  }
};

TEST_F(RanksTest, TheNumberOfRanksChangesNoBit) {
  const auto expected = undisturbed();
  ASSERT_FALSE(expected[1].empty());
  for (const std::string ranks : {"2", "4"}) {
    EXPECT_TRUE(ends(shell(command("ranks" + ranks, "--ranks " + ranks)), 0));
    EXPECT_EQ(trained(run("ranks" + ranks)), expected) << ranks;
  }
}

TEST_F(RanksTest, ExpertsMuonDroppedMergesAndTargetsThatTheModelDrawsDoNotDependOnRanks) {
  for (const std::string set :
       {"'model.feed_forward={kind: moe, experts: 4, active: 2, d_hidden: 16, router: {kind: "
        "sigmoid}}' --set training.optimizer.kind=muon --set tokenizer.kind=bpe --set "
        "tokenizer.dropout=0.4",
        "'training.optimizer={kind: sophia, curvature_interval: 7}'"}) {
    const auto one = std::to_string(set.size()), two = one + "-of-two";
    ASSERT_EQ(shell(command(one, "--set " + set)).code, 0);
    ASSERT_TRUE(ends(shell(command(two, "--ranks 2 --set " + set)), 0));
    EXPECT_EQ(trained(run(two)), trained(run(one))) << set;
  }
}

TEST_F(RanksTest, ARunMayGoOnWithAnotherNumberOfRanks) {
  const auto folder = planned("changing");
  ASSERT_EQ(end_of_stopped(train(folder, "--ranks 2"), folder), 75);
  ASSERT_EQ(end_of_stopped(train(folder, "--ranks 4"), folder), 75);
  ASSERT_EQ(shell(train(folder, "")).code, 0);
  EXPECT_EQ(trained(folder), undisturbed());
}

TEST_F(RanksTest, AKilledRankEndsTheRunWhichCanGoOn) {
  const auto folder = planned("killed");
  pid_t first = 0;
  {
    const HeldBeforeSaving held(folder);
    first = start_process(train(folder, "--ranks 2"));
    ASSERT_TRUE(eventually([&] { return is_training(folder); }));
    kill(process_of(folder, 1), SIGKILL);
  }
  EXPECT_EQ(end_of(first), kRankLost);
  ASSERT_EQ(shell(train(folder, "--ranks 2")).code, 0);
  EXPECT_EQ(trained(folder), undisturbed());
}

TEST_F(RanksTest, ARankThatHangsEndsTheRun) {
  // On a busy machine a short timeout ends the run before its ranks have met; then it is doubled.
  pid_t first = 0, hangs = 0;
  fs::path folder;
  for (int timeout = 3; hangs == 0 && timeout < 1000; timeout *= 2) {
    const auto seconds = std::to_string(timeout);
    folder = planned("hanging-" + seconds);
    const HeldBeforeSaving held(folder);
    first = start_process(train(folder, "--ranks 2 --rank-timeout " + seconds));
    ASSERT_TRUE(eventually([&] { return is_training(folder) || has_ended(first); }));
    if (is_training(folder)) hangs = process_of(folder, 1);
    if (hangs == 0 || kill(hangs, SIGSTOP) != 0) hangs = 0;
    if (hangs == 0) {
      EXPECT_EQ(end_of(first), kRankLost);
    }
  }
  ASSERT_NE(hangs, 0);
  EXPECT_EQ(end_of(first), kRankLost);
  EXPECT_TRUE(eventually([&] { return process_of(folder, 1) == 0; }));
}

TEST_F(RanksTest, ARankThatEndsBeforeAllHaveMetEndsTheRunAtOnce) {
  const auto folder = planned("early", "--set training.pretrained_embeddings.source=vectors.txt");
  pid_t first = 0;
  {
    NamedPipe vectors(folder_ / "vectors.txt");
    first = start_process(train(folder, "--ranks 2 --rank-timeout 86400"));
    ASSERT_TRUE(eventually([&] { return process_of(folder, 1) != 0; }));
    kill(process_of(folder, 1), SIGKILL);
    ASSERT_TRUE(eventually([&] { return process_of(folder, 1) == 0; }));
    ASSERT_TRUE(vectors.has_reader());
    std::string line = "a";
    for (int i = 0; i < 16; ++i) line += " 0.5";
    write_file(folder_ / "vectors.txt", line + "\n");
  }
  EXPECT_EQ(end_of(first), kRankLost);
}

/// A port that nobody listens at now.
int free_port() {
  const int socket_ = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  bind(socket_, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
  close(socket_);
  return ntohs(address.sin_port);
}

TEST_F(RanksTest, ARankThatNeverComesEndsTheRunAndC10dLogsOnRequestAlone) {
  const auto alone =
      " WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + std::to_string(free_port()) + " " +
      train(planned("alone-of-two"), "--ranks 2 --rank-timeout 1");
  const auto lost = "RANK=1" + alone;
  const auto quiet = shell(lost);
  EXPECT_EQ(quiet.code, kRankLost);
  EXPECT_EQ(lines_of(quiet.output).size(), 1u) << quiet.output;
  EXPECT_TRUE(quiet.output.starts_with("ablate: not all 2 ranks")) << quiet.output;
  EXPECT_TRUE(says(shell("TORCH_CPP_LOG_LEVEL=WARNING " + lost).output, "[c10d]"));
  EXPECT_TRUE(
      ends(shell("RANK=0" + alone), kRankLost, "not all 2 ranks of this run could be reached"));
}

TEST_F(RanksTest, TorchrunStartsAgainWhatARankLost) {
  const std::string torchrun = std::string(ABLATE_SOURCE) + "/.venv/bin/torchrun";
  if (shell(torchrun + " --help 2>&1").code != 0) GTEST_SKIP() << "no torchrun in .venv";
  const auto folder = planned("torchrun");
  pid_t launcher = 0;
  {
    const HeldBeforeSaving held(folder);
    launcher =
        start_process(torchrun + " --standalone --nproc-per-node 2 --max-restarts 2 --no-python " +
                      train(folder, "--ranks 2"));
    ASSERT_TRUE(eventually([&] { return is_training(folder); }));
    kill(process_of(folder, 1), SIGKILL);
  }
  EXPECT_EQ(end_of(launcher), 0);
  EXPECT_EQ(trained(folder), undisturbed());
}

}  // namespace
}  // namespace ablate::commands
