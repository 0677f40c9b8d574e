#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>

#include "experiments/commands/command_line.h"
#include "experiments/commands/describe_failure.h"
#include "experiments/commands/lines.h"
#include "experiments/errors.h"
#include "training/caching_allocator.h"
#include "training/device.h"
#include "training/process/interrupt.h"

namespace {

using namespace ablate;

/// Reports an argument that CLI11 could not parse, with the nearest word.
int usage_mistake(const CLI::App& app, const std::vector<std::string>& arguments,
                  const CLI::ParseError& error) {
  if (commands::lacks_verb(app, arguments)) {
    std::cout << commands::help_of(arguments);
    return static_cast<int>(ExitCode::ok);
  }
  auto mistake = commands::unknown_word(app, arguments);
  if (mistake.empty()) mistake = commands::with_help(app, error.what());
  std::cerr << "ablate: " << mistake << "\n";
  return static_cast<int>(ExitCode::usage);
}

int out_of_memory() {
  std::fputs("ablate: out of memory\n", stderr);
  return static_cast<int>(ExitCode::memory);
}

/// Reports the current exception; if there is no memory for the message, only that.
int failed(bool debug) {
  std::cerr.tie(nullptr);  // output that standard output could not take is already lost
  try {
    const auto failure = commands::describe(std::current_exception(), debug);
    std::cerr << "ablate: " + failure.message + "\n";
    return static_cast<int>(failure.code);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

const std::terminate_handler abort_with_reason = std::get_terminate();

void flush_what_is_left() {
  try {
    std::cout.flush();
  } catch (...) {  // there is nowhere to say it
  }
  std::fflush(nullptr);
}

/// For exceptions that cannot be caught: if a library's thread or destructor runs out of memory, or
/// frees memory of a GPU that has failed, the program ends with the same exit code as elsewhere and
/// keeps its files.
[[noreturn]] void end_uncaught() {
  int code = 0;
  try {
    if (const auto uncaught = std::current_exception()) std::rethrow_exception(uncaught);
  } catch (const std::bad_alloc&) {
    code = out_of_memory();
  } catch (const std::exception& error) {
    if (training::is_device_fault(error)) code = failed(/*debug=*/false);
  } catch (...) {
  }
  if (code != 0) {
    flush_what_is_left();
    std::_Exit(code);
  }
  abort_with_reason();
  std::abort();
}

int run(const std::vector<std::string>& arguments) {
  bool debug = false;
  const auto app = commands::command_line(debug);
  try {
    if (const auto mistake = commands::empty_item(*app, arguments); !mistake.empty())
      throw UsageError(mistake);
    app->parse(std::vector<std::string>(arguments.rbegin(),
                                        arguments.rend()));  // CLI11 takes them from the back
    std::cout.flush();
    return static_cast<int>(ExitCode::ok);
  } catch (const CLI::Success& request) {
    app->exit(request);
    return static_cast<int>(ExitCode::ok);
  } catch (const CLI::ParseError& error) {
    return usage_mistake(*app, arguments, error);
  } catch (const commands::OutputClosed&) {
    throw;
  } catch (...) {
    return failed(debug);
  }
}

int run_or_fail(const std::vector<std::string>& arguments) {
  const commands::CheckedOutput output;
  try {
    const int code = run(arguments);
    if (std::cout) std::cout.flush();
    return code;
  } catch (const commands::OutputClosed&) {
    return 128 + SIGPIPE;
  } catch (...) {  // before there was a command line, or while a mistake in it was explained
    return failed(false);
  }
}

}  // namespace

int main(int count, char** arguments) {
#ifndef __SANITIZE_ADDRESS__  // which finds no mistake in memory that is never freed
  ablate::training::CachingAllocator::install();
#endif
  ablate::training::set_up_signals();
  std::set_terminate(end_uncaught);
  const int code = run_or_fail({arguments + 1, arguments + count});
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // which report at the very end
  return code;
#else
  std::fflush(nullptr);
  std::_Exit(code);  // LibTorch's destructors take a third of the time of `ablate --version`
#endif
}
