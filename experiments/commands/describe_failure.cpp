#include "experiments/commands/describe_failure.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "data/corpus.h"
#include "experiments/config/yaml/problem.h"
#include "models/inference/hypothesis.h"
#include "models/libtorch.h"
#include "models/position/position.h"
#include "tokenizer/tokenizer.h"
#include "training/device.h"
#include "training/process/interrupt.h"
#include "training/ranks/rank_place.h"
#include "training/storage/errors.h"
#include "training/trainer.h"

namespace ablate::commands {
namespace {

constexpr const char* kMemory =
    "out of memory; lower training.tokens_per_batch or decoding.batch, or the model's size";
constexpr const char* kMemoryOfUpdates =
    "; lower training.tokens_per_batch and raise training.accumulate, or lower the model's size";

constexpr const char* kProcesses =
    ": the system allows no more processes or threads; end some, raise the limit (ulimit -u, or "
    "pids.max of the control group), or lower --jobs and --threads";

Failure classify(const std::exception_ptr& exception, bool debug) {
  try {
    std::rethrow_exception(exception);
  } catch (const config::ConfigError& error) {
    const bool by_data = std::ranges::all_of(error.problems, &config::Problem::of_data);
    return {by_data ? ExitCode::data : ExitCode::usage, error.what()};
  } catch (const RunsFailed& error) {
    return {error.code, error.what()};
  } catch (const UsageError& error) {
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
  } catch (const models::NotFinite& error) {
    return {ExitCode::diverged, error.what()};
  } catch (const training::IoError& error) {
    return {ExitCode::io, error.what()};
  } catch (const std::filesystem::filesystem_error& error) {
    if (error.code() == std::errc::not_enough_memory) return {ExitCode::memory, kMemory};
    return {ExitCode::io, error.what()};
  } catch (const std::system_error& error) {  // a thread or a process could not be created
    if (error.code() != std::errc::resource_unavailable_try_again)
      return {ExitCode::internal, error.what()};
    return {ExitCode::io, std::string(error.what()) + kProcesses};
  } catch (const training::RankLost& error) {
    return {ExitCode::rank, error.what()};
  } catch (const training::Interrupted& error) {
    return {ExitCode::interrupted, error.what()};
  } catch (const training::OutOfMemory& error) {
    return {ExitCode::memory, std::string("out of memory at ") + error.what() + kMemoryOfUpdates};
  } catch (const std::exception& error) {
    if (training::is_out_of_memory(error)) return {ExitCode::memory, kMemory};
    const auto* of_torch = debug ? nullptr : dynamic_cast<const c10::Error*>(&error);
    return {training::is_device_fault(error) ? ExitCode::device : ExitCode::internal,
            of_torch == nullptr ? error.what() : of_torch->what_without_backtrace()};
  }
}

}  // namespace

Failure describe(const std::exception_ptr& exception, bool debug) {
  auto failure = classify(exception, debug);
  failure.message = config::printable(std::move(failure.message));
  return failure;
}

}  // namespace ablate::commands
