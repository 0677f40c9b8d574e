#pragma once

#include <array>
#include <csignal>
#include <stdexcept>

namespace ablate::training {

/// A stop was asked for; the checkpoint is saved and the same command continues.
struct Interrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The signals that ask a process to end.
constexpr std::array kStopSignals{SIGINT, SIGTERM, SIGHUP};

/// While one lives, kStopSignals only ask for a stop, and a second SIGINT ends the process at once;
/// before and after, each ends it. A SIGHUP that nohup has switched off stays so. For code that has
/// to save its state first. A request is cleared when the next object is created, unless it is
/// nested.
class StopRequests {
 public:
  StopRequests();
  ~StopRequests();
  StopRequests(const StopRequests&) = delete;
  StopRequests& operator=(const StopRequests&) = delete;

 private:
  std::array<struct sigaction, kStopSignals.size()> before_{};
};

/// Whether a stop was asked for, now or by a StopRequests that is gone.
bool stop_requested();

/// A write beyond a file-size limit or into a closed pipe becomes an error instead of a signal, and
/// SIGINT ends even a process that a script has put into the background.
void set_up_signals();

}  // namespace ablate::training
