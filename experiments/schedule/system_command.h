#pragma once

#include <string>
#include <vector>

namespace ablate::schedule {

/// How a program ended, and what it wrote.
struct CommandResult {
  int exit_code = 0;  // 128 + the signal where one ended it
  std::string output, error;
};

/// Runs a program that is looked for in PATH, without a shell, and waits for its end. Throws
/// UsageError where there is no such program.
CommandResult run_command(const std::vector<std::string>& words);

}  // namespace ablate::schedule
