#include "training/process/interrupt.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <thread>

namespace ablate::training {
namespace {

/// Sends `signal` to a thread of its own, and waits until that thread has seen it.
void deliver_elsewhere(int signal) {
  std::thread([signal] { pthread_kill(pthread_self(), signal); }).join();
}

// A request is never taken back and signals end processes, so each test is a process of its own.
class InterruptDeathTest : public testing::Test {
 protected:
  InterruptDeathTest() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    std::signal(SIGHUP, SIG_DFL);  // the tests may run under nohup
  }
};

TEST_F(InterruptDeathTest, ASignalOnAnyThreadAsksForAStopAndEndsNothing) {
  for (const int signal : kStopSignals)
    EXPECT_EXIT(
        {
          const StopRequests requests;
          if (stop_requested()) _exit(1);
          deliver_elsewhere(signal);
          _exit(stop_requested() ? 0 : 2);
        },
        testing::ExitedWithCode(0), "");
}

TEST_F(InterruptDeathTest, ASecondSigintEndsTheProcess) {
  EXPECT_EXIT(
      {
        const StopRequests requests;
        deliver_elsewhere(SIGTERM);
        deliver_elsewhere(SIGTERM);
        deliver_elsewhere(SIGINT);
        _exit(0);
      },
      testing::ExitedWithCode(130), "");
}

TEST_F(InterruptDeathTest, OutsideOfStopRequestsASignalEndsTheProcess) {
  for (const int signal : kStopSignals)
    EXPECT_EXIT(
        {
          set_up_signals();
          { const StopRequests requests; }
          deliver_elsewhere(signal);
          _exit(0);
        },
        testing::KilledBySignal(signal), "");
}

TEST_F(InterruptDeathTest, ARequestOutlivesItsScope) {
  EXPECT_EXIT(
      {
        {
          const StopRequests requests;
          deliver_elsewhere(SIGHUP);
        }
        _exit(stop_requested() ? 0 : 2);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(InterruptDeathTest, TheNextScopeForgetsItAndOneWithinDoesNot) {
  EXPECT_EXIT(
      {
        {
          const StopRequests requests;
          deliver_elsewhere(SIGTERM);
        }
        const StopRequests next;
        if (stop_requested()) _exit(1);
        deliver_elsewhere(SIGTERM);
        const StopRequests within;
        _exit(stop_requested() ? 0 : 2);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(InterruptDeathTest, UnderNohupAHangUpAsksForNothing) {
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);
        set_up_signals();
        const StopRequests requests;
        deliver_elsewhere(SIGHUP);
        _exit(stop_requested() ? 2 : 0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(InterruptDeathTest, SigintEndsAProcessThatAScriptStartedInTheBackground) {
  EXPECT_EXIT(
      {
        std::signal(SIGINT, SIG_IGN);
        set_up_signals();
        deliver_elsewhere(SIGINT);
        _exit(0);
      },
      testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace ablate::training
