#include "training/interrupt.h"

#include <unistd.h>

#include <csignal>

namespace ablate::training {
namespace {

volatile std::sig_atomic_t requested = 0;

void request(int signal) {
  if (requested != 0 && signal == SIGINT) _exit(130);
  requested = 1;
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

bool stop_requested() { return requested != 0; }

}  // namespace ablate::training
