#include "experiments/exit_code.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <new>

#include "data/corpus.h"
#include "experiments/config/problem.h"
#include "models/libtorch.h"
#include "models/position/position.h"
#include "models/weight_dtype.h"
#include "tokenizer/tokenizer.h"
#include "training/checkpoint/checkpoint_error.h"
#include "training/checkpoint/io_error.h"
#include "training/device.h"
#include "training/interrupt.h"
#include "training/trainer.h"

namespace ablate::experiments {
namespace {

bool out_of_memory(const c10::Error& error) {
  const std::string_view message = error.what_without_backtrace();
  return dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
         message.find("not enough memory") != std::string_view::npos ||
         message.find("can't allocate memory") != std::string_view::npos;
}

constexpr const char* kMemory =
    "out of memory; lower training.tokens_per_batch or decoding.batch, or the model's size";

/// The most serious first; and all that there are.
constexpr std::array kMostSeriousFirst{
    ExitCode::internal,   ExitCode::io,          ExitCode::memory,
    ExitCode::checkpoint, ExitCode::data,        ExitCode::usage,
    ExitCode::diverged,   ExitCode::interrupted, ExitCode::ok};

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

Failure describe(const std::exception_ptr& exception, bool debug) {
  try {
    std::rethrow_exception(exception);
  } catch (const ConfigError& error) {
    return {ExitCode::usage, error.what()};
  } catch (const RunsFailed& error) {
    return {error.code, error.what()};
  } catch (const UsageError& error) {
    return {ExitCode::usage, error.what()};
  } catch (const models::WeightDtypeError& error) {
    return {ExitCode::usage, error.what()};
  } catch (const training::DeviceError& error) {
    return {ExitCode::usage, error.what()};
  } catch (const data::DataError& error) {
    return {ExitCode::data, error.what()};
  } catch (const tokenizer::TokenizerError& error) {
    return {ExitCode::data, error.what()};
  } catch (const models::LengthError& error) {
    return {ExitCode::data, error.what()};
  } catch (const training::CheckpointError& error) {
    return {ExitCode::checkpoint, error.what()};
  } catch (const training::Diverged& error) {
    return {ExitCode::diverged, error.what()};
  } catch (const training::IoError& error) {
    return {ExitCode::io, error.what()};
  } catch (const std::filesystem::filesystem_error& error) {
    return {ExitCode::io, error.what()};
  } catch (const training::Interrupted& error) {
    return {ExitCode::interrupted, error.what()};
  } catch (const std::bad_alloc&) {
    return {ExitCode::memory, kMemory};
  } catch (const c10::Error& error) {
    if (out_of_memory(error)) return {ExitCode::memory, kMemory};
    return {ExitCode::internal, debug ? error.what() : error.what_without_backtrace()};
  } catch (const std::exception& error) {
    return {ExitCode::internal, error.what()};
  }
}

}  // namespace ablate::experiments
