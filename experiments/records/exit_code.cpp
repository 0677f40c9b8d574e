#include "experiments/records/exit_code.h"

#include <algorithm>
#include <array>

#include "training/process/interrupt.h"

namespace ablate::records {
namespace {

/// The most serious first; and all that there are.
constexpr std::array kMostSeriousFirst{
    ExitCode::internal,    ExitCode::io,   ExitCode::memory, ExitCode::rank,
    ExitCode::checkpoint,  ExitCode::data, ExitCode::usage,  ExitCode::diverged,
    ExitCode::interrupted, ExitCode::ok};

}  // namespace

ExitCode meaning_of(int exit_code) {
  if (exit_code == 128 + SIGKILL) return ExitCode::memory;
  const auto ended_by = [&](int signal) { return exit_code == 128 + signal; };
  if (std::ranges::any_of(training::kStopSignals, ended_by)) return ExitCode::interrupted;
  const auto code = static_cast<ExitCode>(exit_code);
  return std::ranges::find(kMostSeriousFirst, code) == kMostSeriousFirst.end() ? ExitCode::internal
                                                                               : code;
}

ExitCode more_serious(ExitCode one, ExitCode other) {
  return *std::ranges::find_first_of(kMostSeriousFirst, std::array{one, other});
}

}  // namespace ablate::records
