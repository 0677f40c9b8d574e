#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ablate::experiments {

/// One program to start and what its exit meant.
struct Job {
  std::vector<std::string> arguments;  // the program first
  int exit_code = -1;                  // -1: not started
};

/// Runs every job, at most `parallel` at a time, in order. A stop request is passed on to the
/// running jobs, and no further one is started. A job that a signal ended has 128 + the signal.
void run_jobs(std::vector<Job>& jobs, int64_t parallel);

/// Cores this process may use.
int64_t available_cores();

/// Asks the kernel to end this process when the one that started it ends.
void end_with_parent();

}  // namespace ablate::experiments
