#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "experiments/records/folders.h"
#include "experiments/schedule/worker.h"

namespace ablate::schedule {

/// A line that a process wrote to standard output or error, without its end.
struct ProcessLine {
  size_t job;
  std::string text;
};

/// A process has ended; all its lines came before.
struct ProcessEnd {
  size_t job;
  int exit_code;  // 128 + the signal if one ended it
};

using ProcessEvent = std::variant<ProcessLine, ProcessEnd>;

/// Processes that run side by side. Their output is returned as whole lines, so that lines never
/// mix.
class ProcessPool {
 public:
  ProcessPool() = default;
  /// Kills processes that still run.
  ~ProcessPool();
  ProcessPool(const ProcessPool&) = delete;
  ProcessPool& operator=(const ProcessPool&) = delete;

  /// Starts a program, named by its first argument, which the kernel ends if this process ends
  /// first. Its events have the number `job`. Its OpenMP threads spin briefly, as for a busy
  /// machine, unless GOMP_SPINCOUNT or OMP_WAIT_POLICY is set. Throws std::system_error.
  void start(size_t job, const std::vector<std::string>& arguments);

  /// The events since the last call; waits for one, at most this long.
  std::vector<ProcessEvent> wait(std::chrono::milliseconds longest);

  size_t running() const { return processes_.size(); }

  /// Asks every process to stop (SIGTERM). One that has just been started may miss it: repeat until
  /// all have ended.
  void stop() const;

 private:
  struct Process {
    size_t job;
    int output;           // read end of the pipe
    std::string begun;    // the line that has not ended yet
    bool closed = false;  // no more output can come
  };
  void read(Process& process, std::vector<ProcessEvent>& events);

  std::map<pid_t, Process> processes_;
};

/// Works on a planned run as run_study() does: in a child process, so that log.txt and failure.json
/// record even a crash, and again after one. Crashes that failure.json counts from an earlier
/// supervision count, too. Passes the output of the process to `messages`. Throws RunsFailed, and
/// Interrupted if a stop was requested.
void supervise(const records::RunFolder& folder, const Worker& worker, int64_t retries,
               std::ostream& messages);

}  // namespace ablate::schedule
