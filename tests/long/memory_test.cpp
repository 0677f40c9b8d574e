#include <chrono>
#include <thread>

#include "tests/experiments/program.h"

namespace ablate::experiments {
namespace {

/// Resident memory of a process in KiB; 0 when it has ended.
int64_t resident(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6));
  return 0;
}

/// Steps that the run has logged so far.
int64_t logged_steps(const std::filesystem::path& metrics) {
  const auto text = read_file(metrics);
  const auto at = text.rfind("\"step\":");
  return at == std::string::npos ? 0 : std::stoll(text.substr(at + 7));
}

TEST_F(ProgramTest, MemoryDoesNotGrowOverALongRun) {
  const std::vector<std::string> arguments = {kProgram,    "run",
                                              study(),     "--worker",
                                              "--tasks",   "copy",
                                              "--arms",    "base",
                                              "--seeds",   "1",
                                              "--threads", "1",
                                              "--output",  folder_ / "out",
                                              "--set",     "training.steps=30000",
                                              "--set",     "training.evaluate_every=1000",
                                              "--set",     "training.save_every=1000"};
  std::vector<char*> raw;
  for (const auto& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);
  const pid_t process = fork();
  if (process == 0) {
    freopen("/dev/null", "w", stdout);
    freopen("/dev/null", "w", stderr);
    execv(raw[0], raw.data());
    _exit(127);
  }
  int64_t early = 0, late = 0;
  int status = 0;
  while (waitpid(process, &status, WNOHANG) == 0) {
    const auto step = logged_steps(run("out") / "metrics.jsonl");
    const auto memory = resident(process);
    if (step >= 5'000 && early == 0) early = memory;
    if (step >= 5'000 && memory > 0) late = memory;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ASSERT_GT(early, 0);
  RecordProperty("resident_kib_at_step_5000", std::to_string(early));
  RecordProperty("resident_kib_at_the_end", std::to_string(late));
  EXPECT_LT(late - early, 8 * 1024) << "KiB at step 5,000: " << early << ", at the end: " << late;
}

}  // namespace
}  // namespace ablate::experiments
