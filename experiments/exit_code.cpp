#include "experiments/exit_code.h"

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

}  // namespace

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
