#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "training/process/interrupt.h"

namespace ablate {

/// Exit code of a process.
enum class ExitCode {
  ok = 0,
  internal = 1,  // also: an expectation of the study does not hold
  usage = 2,
  data = 3,
  checkpoint = 4,
  diverged = 5,
  memory = 6,
  io = 7,
  rank = 8,    // lost one of the processes of a run
  device = 9,  // a GPU failed
  interrupted = 75,
};

/// All exit codes: faults of the program, then of the machine, then of the input, and interruptions
/// last.
inline constexpr std::array kMostSeriousFirst{
    ExitCode::internal, ExitCode::io,          ExitCode::memory, ExitCode::device,
    ExitCode::rank,     ExitCode::checkpoint,  ExitCode::data,   ExitCode::usage,
    ExitCode::diverged, ExitCode::interrupted, ExitCode::ok};

/// The exit code that comes first in kMostSeriousFirst.
constexpr ExitCode more_serious(ExitCode one, ExitCode other) {
  return *std::ranges::find_first_of(kMostSeriousFirst, std::array{one, other});
}

/// The meaning of a child process's exit code, in which 128 + n is signal n: `memory` for SIGKILL,
/// which the system sends if memory is short, `interrupted` for a stop signal, and `internal` for
/// other signals and unknown codes.
constexpr ExitCode meaning_of(int exit_code) {
  if (exit_code == 128 + SIGKILL) return ExitCode::memory;
  const auto ended_by = [&](int signal) { return exit_code == 128 + signal; };
  if (std::ranges::any_of(training::kStopSignals, ended_by)) return ExitCode::interrupted;
  const auto code = static_cast<ExitCode>(exit_code);
  return std::ranges::find(kMostSeriousFirst, code) == kMostSeriousFirst.end() ? ExitCode::internal
                                                                               : code;
}

/// A command line that cannot be carried out.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Child processes of runs failed; `code` is the most serious of their exit codes.
struct RunsFailed : std::runtime_error {
  RunsFailed(ExitCode worst, const std::string& message)
      : std::runtime_error(message), code(worst) {}
  ExitCode code;
};

/// The runs contradict the expectations of their study.
struct ExpectationFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ablate
