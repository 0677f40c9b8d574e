#include "training/process/interrupt.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <functional>
#include <thread>

namespace ablate::training {
namespace {

/// Sends `signal` to a thread of its own, and waits until that thread has seen it.
void deliver_elsewhere(int signal) {
  std::thread([signal] { pthread_kill(pthread_self(), signal); }).join();
}

/// Runs `body` in a process of its own, and expects it to return true.
void expect_true_of_a_process(const std::function<bool()>& body) {
  EXPECT_EXIT(_exit(body() ? 0 : 2), testing::ExitedWithCode(0), "");
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
    expect_true_of_a_process([signal] {
      const StopRequests requests;
      if (stop_requested()) return false;
      deliver_elsewhere(signal);
      return stop_requested();
    });
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
  expect_true_of_a_process([] {
    {
      const StopRequests requests;
      deliver_elsewhere(SIGHUP);
    }
    return stop_requested();
  });
}

TEST_F(InterruptDeathTest, TheNextScopeForgetsItAndOneWithinDoesNot) {
  expect_true_of_a_process([] {
    {
      const StopRequests requests;
      deliver_elsewhere(SIGTERM);
    }
    const StopRequests next;
    if (stop_requested()) return false;
    deliver_elsewhere(SIGTERM);
    const StopRequests within;
    return stop_requested();
  });
}

TEST_F(InterruptDeathTest, UnderNohupAHangUpAsksForNothing) {
  expect_true_of_a_process([] {
    std::signal(SIGHUP, SIG_IGN);
    set_up_signals();
    const StopRequests requests;
    deliver_elsewhere(SIGHUP);
    return !stop_requested();
  });
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
