#pragma once

#include <exception>
#include <string>

namespace ablate::experiments {

/// How a process ends (design, section 6).
enum class ExitCode {
  ok = 0,
  internal = 1,
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

struct Failure {
  ExitCode code;
  std::string message;  // without LibTorch's stack frames unless `debug`
};

/// What an exception means to the user.
Failure describe(const std::exception_ptr& exception, bool debug);

}  // namespace ablate::experiments
