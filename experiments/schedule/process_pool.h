#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace ablate::schedule {

/// A line that a process wrote to standard output or error, without its end.
struct ProcessLine {
  size_t job;
  std::string text;
};

/// A process has ended; all its lines came before.
struct ProcessEnd {
  size_t job;
  int exit_code;  // 128 + the signal where one ended it
};

using ProcessEvent = std::variant<ProcessLine, ProcessEnd>;

/// Processes that run side by side. What they write comes back here as whole lines, so that theirs
/// never mix.
class ProcessPool {
 public:
  ProcessPool() = default;
  /// Kills what still runs.
  ~ProcessPool();
  ProcessPool(const ProcessPool&) = delete;
  ProcessPool& operator=(const ProcessPool&) = delete;

  /// Starts a program, named by its first argument, which the kernel ends if this process ends
  /// first. Events call it `job`. Its OpenMP threads wait as suits a busy machine, unless
  /// GOMP_SPINCOUNT or OMP_WAIT_POLICY is set. Throws std::system_error.
  void start(size_t job, const std::vector<std::string>& arguments);

  /// What happened since the last call; waits for something, at most this long.
  std::vector<ProcessEvent> wait(std::chrono::milliseconds longest);

  size_t running() const { return processes_.size(); }

  /// Asks every process to stop (SIGTERM). One that has only just been started may miss it: ask
  /// until all have ended.
  void stop() const;

 private:
  struct Process {
    size_t job;
    int output;           // read end of the pipe
    std::string begun;    // the line that has not ended yet
    bool closed = false;  // nothing more can come
  };
  void read(Process& process, std::vector<ProcessEvent>& events);

  std::map<pid_t, Process> processes_;
};

}  // namespace ablate::schedule
