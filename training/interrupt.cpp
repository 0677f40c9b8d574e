#include "training/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace ablate::training {
namespace {

// The handler may run on any thread.
std::atomic<bool> requested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait for a lock");

void request(int signal) {
  if (requested.exchange(true) && signal == SIGINT) _exit(130);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = request;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}

bool stop_requested() { return requested; }

}  // namespace ablate::training
