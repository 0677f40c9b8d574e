#include "experiments/schedule/process_pool.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>

#include "tests/experiments/waiting.h"

namespace ablate::schedule {
namespace {

constexpr std::chrono::milliseconds kLong{5000};

/// All that processes wrote and how they ended, in the order of the events.
struct Seen {
  std::map<size_t, std::vector<std::string>> lines;
  std::map<size_t, int> codes;
  std::vector<size_t> ended;
};

Seen all_of(ProcessPool& pool) {
  Seen seen;
  while (pool.running() > 0)
    for (const auto& event : pool.wait(kLong)) {
      if (const auto* line = std::get_if<ProcessLine>(&event)) {
        EXPECT_FALSE(seen.codes.contains(line->job)) << "a line after the end";
        seen.lines[line->job].push_back(line->text);
      } else {
        const auto& end = std::get<ProcessEnd>(event);
        seen.codes[end.job] = end.exit_code;
        seen.ended.push_back(end.job);
      }
    }
  return seen;
}

std::vector<std::string> as_script(const std::string& script) { return {"/bin/sh", "-c", script}; }

TEST(ProcessPool, BothOutputsComeBackAsWholeLinesBeforeTheEnd) {
  ProcessPool pool;
  pool.start(3, as_script("printf 'one\\ntw'; sleep 0.1; echo o >&2; printf last"));
  const auto seen = all_of(pool);
  EXPECT_EQ(seen.lines.at(3), (std::vector<std::string>{"one", "two", "last"}));
  EXPECT_EQ(seen.codes.at(3), 0);
}

TEST(ProcessPool, ProcessesRunSideBySide) {
  const auto path = testing::TempDir() + fmt::format("pipe-{}", getpid());
  const NamedPipe pipe(path);
  ProcessPool pool;
  pool.start(0, as_script(fmt::format("read line <{} && echo \"$line\"", path)));
  pool.start(1, as_script(fmt::format("echo 'of the other' >{}", path)));
  EXPECT_EQ(pool.running(), 2U);
  const auto seen = all_of(pool);
  EXPECT_EQ(seen.lines.at(0).at(0), "of the other") << "each waits for the other to open the pipe";
  EXPECT_EQ(seen.codes, (std::map<size_t, int>{{0, 0}, {1, 0}}));
}

TEST(ProcessPool, AnEndIsItsExitCodeOrItsSignal) {
  ProcessPool pool;
  pool.start(0, as_script("exit 5"));
  pool.start(1, as_script("kill -9 $$"));
  const auto seen = all_of(pool);
  EXPECT_EQ(seen.codes.at(0), 5);
  EXPECT_EQ(seen.codes.at(1), 128 + SIGKILL);
}

TEST(ProcessPool, AStopReachesEveryProcess) {
  ProcessPool pool;
  for (size_t job = 0; job < 2; ++job) pool.start(job, {"/bin/sleep", "60"});
  pool.stop();
  const auto seen = all_of(pool);
  EXPECT_EQ(seen.codes, (std::map<size_t, int>{{0, 128 + SIGTERM}, {1, 128 + SIGTERM}}));
}

TEST(ProcessPool, ThreadsOfOpenMpSleepSoonUnlessTheEnvironmentSaysHowTheyWait) {
  unsetenv("GOMP_SPINCOUNT");
  unsetenv("OMP_WAIT_POLICY");
  const auto spin_count = [] {
    ProcessPool pool;
    pool.start(0, as_script("echo \"${GOMP_SPINCOUNT-unset} $HOME\""));
    return all_of(pool).lines.at(0).at(0);
  };
  const auto home = std::string(" ") + getenv("HOME");
  EXPECT_EQ(spin_count(), "1000" + home);
  setenv("OMP_WAIT_POLICY", "active", 1);
  EXPECT_EQ(spin_count(), "unset" + home);
  unsetenv("OMP_WAIT_POLICY");
  setenv("GOMP_SPINCOUNT", "7", 1);
  EXPECT_EQ(spin_count(), "7" + home);
  unsetenv("GOMP_SPINCOUNT");
}

TEST(ProcessPool, ProcessesEndWithTheOneThatStartedThem) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // so that what the owner leaves behind comes here
  const pid_t owner = fork();
  if (owner == 0) {
    ProcessPool pool;
    pool.start(0, {"/bin/sleep", "600"});
    kill(getpid(), SIGKILL);
  }
  ASSERT_EQ(waitpid(owner, nullptr, 0), owner);
  EXPECT_TRUE(eventually([] { return waitpid(-1, nullptr, WNOHANG) != 0; }));
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(ProcessPool, AProgramThatIsNotThereIsAnError) {
  ProcessPool pool;
  EXPECT_THROW(pool.start(0, {"/no/such/program"}), std::system_error);
  EXPECT_EQ(pool.running(), 0U);
}

}  // namespace
}  // namespace ablate::schedule
