#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace ablate::experiments {

/// How a process ends (design, section 6).
enum class ExitCode {
  ok = 0,
  internal = 1,  // or an expectation of the study that does not hold
  usage = 2,
  data = 3,
  checkpoint = 4,
  diverged = 5,
  memory = 6,
  io = 7,
  interrupted = 75,
};

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

struct Failure {
  ExitCode code;
  std::string message;  // without LibTorch's stack frames unless `debug`
};

/// What an exception means to the user.
Failure describe(const std::exception_ptr& exception, bool debug);

}  // namespace ablate::experiments
