#include "training/process/folder_claim.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/folder.h"
#include "tests/says.h"
#include "training/storage/finite_json.h"

namespace ablate::training {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class FolderClaimTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(folder_ / "claims");
    std::ofstream(folder_ / "claims" / name) << text;
  }
  /// A claim of another process, with a sign of life.
  void claim(const std::string& number, const ProcessIdentity& process) const {
    write(number, to_json(process).dump());
    write("beat-" + number, "1\n");
  }
  bool exists(const std::string& name) const { return fs::exists(folder_ / "claims" / name); }

  const Folder own_;
  const fs::path folder_ = own_.path;
};

ProcessIdentity on_another_host() {
  auto process = this_process();
  process.boot = "another";
  process.began = "1";
  process.host = "n1";
  process.job = "12_3";
  return process;
}

/// Never reached by a test: it would have to wait for it.
constexpr FolderClaim::Times kLongTimes{.lease = 3600s, .beat = 3600s};
constexpr FolderClaim::Times kNoLease{.lease = 0s, .beat = 3600s};

TEST(OwnerWatch, AnOwnerIsGoneAfterALeaseWithoutAChange) {
  const OwnerWatch::Clock::time_point start{};
  OwnerWatch watch(120s);
  EXPECT_EQ(watch.observe("7", start), OwnerWatch::Verdict::undecided);
  EXPECT_EQ(watch.observe("7", start + 119s), OwnerWatch::Verdict::undecided);
  EXPECT_EQ(watch.observe("7", start + 120s), OwnerWatch::Verdict::gone);
}

TEST(OwnerWatch, AnOwnerThatCountsIsAlive) {
  const OwnerWatch::Clock::time_point start{};
  OwnerWatch watch(120s);
  EXPECT_EQ(watch.observe("7", start), OwnerWatch::Verdict::undecided);
  EXPECT_EQ(watch.observe("8", start + 119s), OwnerWatch::Verdict::alive);
}

TEST(OwnerWatch, TheClockOfTheOwnersHostPlaysNoPart) {
  const OwnerWatch::Clock::time_point hours_ago = OwnerWatch::Clock::time_point{} - 9h;
  OwnerWatch watch(120s);
  EXPECT_EQ(watch.observe("7", hours_ago), OwnerWatch::Verdict::undecided);
  EXPECT_EQ(watch.observe("7", hours_ago + 60s), OwnerWatch::Verdict::undecided);
}

TEST(ProcessIdentity, AProcessThatRunsIsNotGone) { EXPECT_FALSE(surely_gone(this_process())); }

TEST(ProcessIdentity, AProcessThatEndedIsGoneAlsoWhereItsNumberIsUsedAgain) {
  auto ended = this_process();
  ended.began = "1";
  EXPECT_TRUE(surely_gone(ended));
}

TEST(ProcessIdentity, TheSameProcessNumberOnAnotherHostOrInAContainerTellsNothing) {
  EXPECT_FALSE(surely_gone(on_another_host()));
  auto contained = this_process();
  contained.pid_namespace = "pid:[1]";
  contained.began = "1";
  EXPECT_FALSE(surely_gone(contained));
}

TEST_F(FolderClaimTest, LetsTheNextOneInAtOnce) {
  { const FolderClaim first(folder_, kLongTimes); }
  const FolderClaim second(folder_, kLongTimes);
  EXPECT_TRUE(exists("000001"));
  EXPECT_TRUE(exists("000002"));
}

TEST_F(FolderClaimTest, TakesOverAtOnceFromAProcessThatIsGone) {
  auto ended = this_process();
  ended.began = "1";
  claim("000001", ended);
  const FolderClaim mine(folder_, kLongTimes);
  EXPECT_TRUE(exists("000002"));
}

/// The process that does `work` and ends.
template <class Work>
pid_t forked(Work&& work) {
  const pid_t process = fork();
  if (process != 0) return process;
  work();
  _exit(0);
}

TEST_F(FolderClaimTest, TakesOverAtOnceFromAProcessWhoseParentHasNotNoticedItsEnd) {
  const pid_t ended = forked([&] { claim("000001", this_process()); });
  siginfo_t end;
  waitid(P_PID, static_cast<id_t>(ended), &end, WEXITED | WNOWAIT);
  const FolderClaim mine(folder_, kLongTimes, [] { throw std::runtime_error("it waits"); });
  EXPECT_TRUE(exists("000002"));
  waitpid(ended, nullptr, 0);
}

TEST_F(FolderClaimTest, AnOwnerOnThisHostIsWaitedForUntilItEnds) {
  std::array<int, 2> begun{}, go_on{};
  ASSERT_EQ(pipe(begun.data()) + pipe(go_on.data()), 0);
  const pid_t owner = forked([&] {
    close(go_on[1]);
    const FolderClaim first(folder_, kNoLease);
    char letter = '.';
    if (::write(begun[1], &letter, 1) == 1 && read(go_on[0], &letter, 1) == 0)
      std::ofstream(folder_ / "done") << "done";
  });
  char letter = 0;
  ASSERT_EQ(read(begun[0], &letter, 1), 1);
  int waits = 0;
  const FolderClaim second(folder_, kNoLease, [&] {
    ++waits;
    close(go_on[1]);
  });
  EXPECT_EQ(waits, 1);
  EXPECT_TRUE(fs::exists(folder_ / "done"));
  if (waits == 0) close(go_on[1]);
  waitpid(owner, nullptr, 0);
}

TEST_F(FolderClaimTest, AFileThatIsNoClaimIsNone) {
  for (const char* name : {"99999999999999999999", "0000007", "7", "000002x", "-00002"})
    write(name, "");
  const FolderClaim mine(folder_, kNoLease);
  EXPECT_TRUE(exists("000001"));
  mine.check();
}

TEST_F(FolderClaimTest, TakesOverAfterTheLeaseFromAnotherHost) {
  claim("000001", on_another_host());
  const FolderClaim mine(folder_, kNoLease);
  EXPECT_TRUE(exists("000002"));
}

TEST_F(FolderClaimTest, AnOwnerThatWasTakenForGoneIsToldByWhom) {
  const FolderClaim mine(folder_, kLongTimes);
  mine.check();
  claim("000002", on_another_host());
  const auto why = refusal_of<NotTheOwner>([&] { mine.check(); });
  EXPECT_TRUE(says(why, "host n1"));
  EXPECT_TRUE(says(why, "job 12_3"));
}

TEST_F(FolderClaimTest, AnAliveOwnerIsLeftAlone) {
  claim("000001", on_another_host());
  const pid_t owner = fork();
  if (owner == 0)
    for (int beat = 0;; ++beat) write("beat-000001", std::to_string(beat) + "\n");
  EXPECT_THROW(FolderClaim(folder_, kLongTimes), NotTheOwner);
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  EXPECT_FALSE(exists("000002"));
}

/// Adds one to the number in the file, so that two who do it at once lose a count.
void count_up(const fs::path& file) {
  int count = 0;
  std::ifstream(file) >> count;
  for (int spin = 0; spin < 1000; ++spin) sched_yield();
  std::ofstream(file) << count + 1;
}

TEST_F(FolderClaimTest, ProcessesWithoutCommonLocksTakeTurns) {
  constexpr int kProcesses = 4, kTurns = 10;
  std::ofstream(folder_ / "count") << 0;
  for (int i = 0; i < kProcesses; ++i) {
    if (fork() != 0) continue;
    for (int turn = 0; turn < kTurns;) {
      try {
        const FolderClaim mine(folder_, kLongTimes);
        count_up(folder_ / "count");
        mine.check();
        ++turn;
      } catch (const NotTheOwner&) {
        continue;  // it saw the owner begin
      }
    }
    _exit(0);
  }
  for (int i = 0; i < kProcesses; ++i) {
    int status = 0;
    wait(&status);
    EXPECT_EQ(status, 0);
  }
  int count = 0;
  std::ifstream(folder_ / "count") >> count;
  EXPECT_EQ(count, kProcesses * kTurns);
}

}  // namespace
}  // namespace ablate::training
