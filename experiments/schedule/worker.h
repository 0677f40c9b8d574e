#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/records/folders.h"
#include "training/process/rank_processes.h"

namespace ablate::schedule {

/// Resources of the processes of one run.
struct Worker {
  int64_t threads = 1;  // of each rank
  int64_t ranks = 1;    // processes that share the run's work
  std::chrono::seconds rank_timeout = training::kRankTimeout;
};

/// The command that works on a planned run in a child process: this very program, even if a rebuild
/// has replaced its file.
std::vector<std::string> train_command(const records::RunFolder& folder, const Worker& worker);

/// Throws UsageError if `ranks` processes cannot share the work of a run: their number must divide
/// the batches of an update and be a power of two, and no batch statistics may be in use.
void check_ranks(const config::Experiment& experiment, int64_t ranks);

/// The processes that work on one planned run, one after the other.
class Attempts {
 public:
  struct Options {
    int64_t retries = 1;  // after a crash: see worth_retrying()
    int64_t made = 0;     // attempts before now that crashed
  };
  enum class End { finished, interrupted, crashed, failed };

  Attempts(records::RunFolder folder, Options options)
      : folder_(std::move(folder)), options_(options) {}

  int64_t made() const { return options_.made; }
  int exit_code() const { return exit_code_; }  // -1: no process has ended
  /// Whether the last attempt failed because the disk is full, so that any other run would fail
  /// too.
  bool found_no_room() const;

  /// Clears an earlier failure. Returns the command that works on the run.
  std::vector<std::string> begin(const Worker& worker);
  /// Handles one line of the process's output and appends it to log.txt. Throws IoError.
  void on_output_line(const std::string& line);
  /// Handles the end of the process. A run that failed leaves failure.json; one that only crashed
  /// should begin again. Throws IoError.
  End end(int exit_code);
  /// Why it crashed or failed, without its last message if `brief`.
  std::string reason(bool brief) const;

 private:
  records::RunFolder folder_;
  Options options_;
  int exit_code_ = -1;
  std::string message_;  // its last error, or its last line
  bool saw_error_ = false;
  std::ofstream log_;  // opened at the first line of output
};

}  // namespace ablate::schedule
