#pragma once

#include <exception>
#include <string>

#include "experiments/errors.h"

namespace ablate::commands {

struct Failure {
  ExitCode code;
  std::string message;  // without LibTorch's stack frames unless `debug`
};

/// What an exception means to the user.
Failure describe(const std::exception_ptr& exception, bool debug);

}  // namespace ablate::commands
