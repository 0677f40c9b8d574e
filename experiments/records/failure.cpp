#include "experiments/records/failure.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "experiments/errors.h"
#include "experiments/records/run_start.h"
#include "training/process/folder_claim.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::records {
namespace {

constexpr int kFirstSignal = 128;

}  // namespace

bool worth_retrying(int exit_code) {
  constexpr std::array kOfTheMachine{ExitCode::memory, ExitCode::rank, ExitCode::device};
  return exit_code > kFirstSignal ||
         std::ranges::find(kOfTheMachine, static_cast<ExitCode>(exit_code)) != kOfTheMachine.end();
}

std::string reason(const RunFailure& failure) {
  const int signal = failure.exit_code > kFirstSignal ? failure.exit_code - kFirstSignal : 0;
  auto text = signal > 0 ? fmt::format("signal {} ({})", signal, strsignal(signal))
                         : fmt::format("exit code {}", failure.exit_code);
  if (signal == SIGKILL) text += ", which the system sends if memory is short";
  if (failure.attempts > 1) text += fmt::format(", in {} attempts", failure.attempts);
  return failure.message.empty() ? text : text + ": " + failure.message;
}

void write_failure(const RunFolder& folder, const RunFailure& failure) {
  training::write_durably(folder.failure(), training::json_file(training::to_json(failure)));
}

void remove_failure(const RunFolder& folder) { std::filesystem::remove(folder.failure()); }

std::optional<RunFailure> read_failure(const RunFolder& folder) {
  if (!std::filesystem::exists(folder.failure())) return {};
  const auto json = training::parse_json(training::read_bytes(folder.failure()));
  try {
    return training::from_json<RunFailure>(json);
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

bool has_diverged(const RunFolder& folder) {
  const auto failure = read_failure(folder);
  return failure && meaning_of(failure->exit_code) == ExitCode::diverged;
}

bool is_left_out(const config::RunSpecification& run, const StudyFolder& folder) {
  return !run.point.empty() && has_diverged(folder.run(run));
}

std::string state_of(const RunFolder& folder) {
  if (std::filesystem::exists(folder.result())) return "finished";
  if (std::filesystem::exists(folder.failure())) return "failed";
  if (training::ownership_of(folder.path) == training::Ownership::alive) return "running";
  if (!std::filesystem::exists(folder.environment())) return "new";
  const auto starts = read_starts(folder);
  return !starts.empty() && starts.back().ended ? "interrupted" : "lost";
}

std::string state_of(const config::RunSpecification& run, const StudyFolder& folder) {
  const auto state = state_of(folder.run(run));
  const bool tries = run.trial || !run.point.empty();
  return tries && state == "failed" && has_diverged(folder.run(run)) ? "diverged" : state;
}

std::string why_missing(const RunFolder& folder) {
  if (const auto failure = read_failure(folder)) return "failed with " + reason(*failure);
  return std::filesystem::exists(folder.environment()) ? "interrupted" : "not started";
}

}  // namespace ablate::records
