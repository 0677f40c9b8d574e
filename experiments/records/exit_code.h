#pragma once

#include <stdexcept>
#include <string>

namespace ablate::records {

/// How a process ends.
enum class ExitCode {
  ok = 0,
  internal = 1,  // or an expectation of the study that does not hold
  usage = 2,
  data = 3,
  checkpoint = 4,
  diverged = 5,
  memory = 6,
  io = 7,
  rank = 8,  // a process that shared the work of a run was lost
  interrupted = 75,
};

/// What the end of a process that the pool started means, of which 128 + n tells that signal n
/// ended it: SIGKILL, which the system sends where memory is short, is `memory`, a request to end
/// `interrupted`, and every other signal or unknown code `internal`.
ExitCode meaning_of(int exit_code);

/// The one that says more about what has to be fixed: the program first, then the machine, then
/// what it was given, and last what was only interrupted.
ExitCode more_serious(ExitCode one, ExitCode other);

/// A command line that cannot be carried out.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs in processes of their own failed; `code` is the most serious way in which one did.
struct RunsFailed : std::runtime_error {
  RunsFailed(ExitCode worst, const std::string& message)
      : std::runtime_error(message), code(worst) {}
  ExitCode code;
};

/// The runs contradict what their study expects.
struct ExpectationFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ablate::records
