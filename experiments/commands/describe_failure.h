#pragma once

#include <exception>
#include <string>

#include "experiments/errors.h"

namespace ablate::commands {

struct Failure {
  ExitCode code;
  std::string message;  // without LibTorch's stack frames unless `debug`
};

/// The message and the exit code of an exception.
Failure describe(const std::exception_ptr& exception, bool debug);

}  // namespace ablate::commands
