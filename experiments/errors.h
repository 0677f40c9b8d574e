#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "training/process/interrupt.h"

namespace ablate {

/// How a process ends.
enum class ExitCode {
  ok = 0,
  internal = 1,  // or an expectation of the study that does not hold
  usage = 2,
  data = 3,
  checkpoint = 4,
  diverged = 5,
  memory = 6,
  io = 7,
  rank = 8,  // a process that shared the work of a run was lost
  interrupted = 75,
};

/// All exit codes: first the program's own faults, then the machine's, then those of the input, and
/// last interruptions.
inline constexpr std::array kMostSeriousFirst{
    ExitCode::internal,    ExitCode::io,   ExitCode::memory, ExitCode::rank,
    ExitCode::checkpoint,  ExitCode::data, ExitCode::usage,  ExitCode::diverged,
    ExitCode::interrupted, ExitCode::ok};

/// The one that is more urgent to fix.
constexpr ExitCode more_serious(ExitCode one, ExitCode other) {
  return *std::ranges::find_first_of(kMostSeriousFirst, std::array{one, other});
}

/// The meaning of a child process's exit code, of which 128 + n means signal n: SIGKILL, which the
/// system sends if memory is short, is `memory`, a request to end `interrupted`, and every other
/// signal or unknown code `internal`.
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

/// Runs in processes of their own failed; `code` is the most serious way in which one did.
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
