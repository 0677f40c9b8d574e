#include "training/threads.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <filesystem>

#include "models/libtorch.h"

namespace ablate::training {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(Threads, CompanyBeginsAtATwentiethOfTheTimeAndEndsAtAFiftieth) {
  for (const auto& [before, waited, after] : {std::tuple{false, 49, false},
                                              {false, 51, true},
                                              {true, 49, true},
                                              {true, 21, true},
                                              {true, 19, false}})
    EXPECT_EQ(has_company(before, milliseconds(waited), milliseconds(1000)), after) << waited;
}

/// Two threads on one processor: each runs while the other waits.
TEST(Threads, WaitingForAProcessorIsCounted) {
  if (!std::filesystem::exists("/proc/self/schedstat"))
    GTEST_SKIP() << "this kernel does not count it";
  const auto before = waited_for_processor();
  std::atomic<bool> counted = false;
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(sched_getcpu(), &here);
  const auto spin = [&](bool look) {
    sched_setaffinity(0, sizeof here, &here);
    while (!counted)
      if (look && waited_for_processor() - before > milliseconds(20)) counted = true;
  };
  std::jthread one([&] {
    std::jthread other([&] { spin(false); });
    spin(true);
  });
  one.join();
  EXPECT_TRUE(counted);
}

int64_t threads_here() {
  return std::ranges::distance(std::filesystem::directory_iterator("/proc/self/task"));
}

TEST(Threads, SleepOnlyWhileTheyAreToldTo) {
#ifndef _OPENMP
  GTEST_SKIP() << "built without OpenMP";
#endif
  const auto before = threads_here();
  {
    const SleepingThreads sleeping;
    while (threads_here() < before + 2) std::this_thread::yield();
  }
  while (threads_here() > before) std::this_thread::yield();
  SUCCEED();
}

TEST(Threads, ShareAnOperation) {
  use_threads(2);
  EXPECT_EQ(at::get_num_threads(), 2);
  use_threads(1);
  EXPECT_EQ(at::get_num_threads(), 1);
}

}  // namespace
}  // namespace ablate::training
