#include "training/process/interrupt.h"

#include <unistd.h>

#include <atomic>

namespace ablate::training {
namespace {

// The handler may run on any thread.
std::atomic<bool> requested = false;
std::atomic<int> living = 0;  // of StopRequests
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait for a lock");

void request(int signal) {
  if (requested.exchange(true) && signal == SIGINT) _exit(128 + SIGINT);
}

}  // namespace

StopRequests::StopRequests() {
  if (living++ == 0) requested = false;
  struct sigaction action = {};
  action.sa_handler = request;
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < kStopSignals.size(); ++i) {
    sigaction(kStopSignals[i], nullptr, &before_[i]);
    const bool nohup = kStopSignals[i] == SIGHUP && before_[i].sa_handler == SIG_IGN;
    if (!nohup) sigaction(kStopSignals[i], &action, nullptr);
  }
}

StopRequests::~StopRequests() {
  --living;
  for (size_t i = 0; i < kStopSignals.size(); ++i) sigaction(kStopSignals[i], &before_[i], nullptr);
}

bool stop_requested() { return requested; }

void set_up_signals() {
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace ablate::training
