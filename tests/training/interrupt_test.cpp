#include "training/interrupt.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <csignal>
#include <thread>

namespace ablate::training {
namespace {

/// Sends `signal` to a thread of its own, and waits until that thread has seen it.
void deliver_elsewhere(int signal) {
  std::thread([signal] { pthread_kill(pthread_self(), signal); }).join();
}

// The handlers stay installed and a request is never taken back, so each test is a process of its
// own.
class InterruptDeathTest : public testing::Test {
 protected:
  InterruptDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(InterruptDeathTest, ASignalOnAnyThreadAsksForAStopAndEndsNothing) {
  for (const int signal : {SIGTERM, SIGINT})
    EXPECT_EXIT(
        {
          install_signal_handlers();
          if (stop_requested()) _exit(1);
          deliver_elsewhere(signal);
          _exit(stop_requested() ? 0 : 2);
        },
        testing::ExitedWithCode(0), "");
}

TEST_F(InterruptDeathTest, ASecondSigintEndsTheProcess) {
  EXPECT_EXIT(
      {
        install_signal_handlers();
        deliver_elsewhere(SIGTERM);
        deliver_elsewhere(SIGTERM);
        deliver_elsewhere(SIGINT);
        _exit(0);
      },
      testing::ExitedWithCode(130), "");
}

}  // namespace
}  // namespace ablate::training
