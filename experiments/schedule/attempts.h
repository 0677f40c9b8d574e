#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "experiments/records/folders.h"
#include "experiments/schedule/worker.h"

namespace ablate::schedule {

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

  /// Forgets an earlier failure. Gives the command that works on the run now.
  std::vector<std::string> begin(const Worker& worker);
  /// Takes in what the process says, and keeps it in log.txt. Throws IoError.
  void hear(const std::string& line);
  /// Takes in how it ended. A run that failed leaves failure.json; one that only crashed should
  /// begin again. Throws IoError.
  End end(int exit_code);
  /// Why it crashed or failed, without what it said last where `brief`.
  std::string reason(bool brief) const;

 private:
  records::RunFolder folder_;
  Options options_;
  int exit_code_ = -1;
  std::string message_;  // the last error that it told, or its last line
  bool told_error_ = false;
  std::ofstream log_;  // once the process says something
};

}  // namespace ablate::schedule
