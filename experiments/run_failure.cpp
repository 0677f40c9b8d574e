#include "experiments/run_failure.h"

#include <fmt/format.h>
#include <signal.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "experiments/exit_code.h"
#include "training/checkpoint/durable_file.h"

namespace ablate::experiments {
namespace {

constexpr int kFirstSignal = 128;

std::filesystem::path file_in(const std::filesystem::path& folder) {
  return folder / "failure.json";
}

}  // namespace

bool worth_retrying(int exit_code) {
  return exit_code > kFirstSignal || exit_code == static_cast<int>(ExitCode::memory);
}

std::string reason(const RunFailure& failure) {
  const int signal = failure.exit_code - kFirstSignal;
  auto text = signal > 0 ? fmt::format("signal {} ({})", signal, strsignal(signal))
                         : fmt::format("exit code {}", failure.exit_code);
  if (signal == SIGKILL) text += ", which the system sends where memory is short";
  if (failure.attempts > 1) text += fmt::format(", in {} attempts", failure.attempts);
  return failure.message.empty() ? text : text + ": " + failure.message;
}

void write_failure(const std::filesystem::path& folder, const RunFailure& failure) {
  nlohmann::json json;
  RunFailure::fields(failure, [&](const char* name, const auto& value) { json[name] = value; });
  const auto replace = nlohmann::json::error_handler_t::replace;
  training::write_durably(file_in(folder), json.dump(2, ' ', false, replace) + "\n");
}

void remove_failure(const std::filesystem::path& folder) {
  std::filesystem::remove(file_in(folder));
}

std::optional<RunFailure> read_failure(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(file_in(folder))) return {};
  const auto json = nlohmann::json::parse(training::read_bytes(file_in(folder)), nullptr, false);
  try {
    RunFailure failure;
    RunFailure::fields(failure,
                       [&](const char* name, auto& value) { json.at(name).get_to(value); });
    return failure;
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

std::string state_of(const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder / "result.json")) return "finished";
  if (std::filesystem::exists(file_in(folder))) return "failed";
  return std::filesystem::exists(folder / "config.yaml") ? "started" : "new";
}

std::string why_missing(const std::filesystem::path& folder) {
  if (const auto failure = read_failure(folder)) return "failed with " + reason(*failure);
  return std::filesystem::exists(folder / "config.yaml") ? "interrupted" : "not started";
}

}  // namespace ablate::experiments
