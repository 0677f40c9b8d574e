#include <CLI/CLI.hpp>
#include <iostream>

#include "experiments/commands/commands.h"
#include "experiments/exit_code.h"
#include "training/caching_allocator.h"
#include "training/interrupt.h"

namespace {

using ablate::experiments::ExitCode;

int run(int count, char** arguments) {
  CLI::App app{
      "Ablate: trains Transformers from a YAML study, measures what a part is worth, and reports "
      "it.\n"
      "Start with: ablate run experiments/studies/quickstart.yaml"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "ablate 0.1.0");
  bool debug = false;
  app.add_flag("--debug", debug, "Show where in LibTorch an internal error comes from");
  app.fallthrough();
  namespace verbs = ablate::experiments;
  verbs::add_run(app);
  verbs::add_report(app);
  verbs::add_compare(app);
  verbs::add_eval(app);
  verbs::add_score(app);
  verbs::add_translate(app);
  verbs::add_metrics(app);
  verbs::add_tokenizer(app);
  verbs::add_data(app);
  verbs::add_config(app);
  verbs::add_inspect(app);
  verbs::add_bench(app);
  verbs::add_generate(app);
  verbs::add_moefy(app);
  verbs::add_export(app);
  verbs::add_verify(app);
  verbs::add_import(app);
  try {
    app.parse(count, arguments);
    std::cout.flush();
    if (!std::cout)
      throw std::filesystem::filesystem_error("cannot write to standard output",
                                              std::make_error_code(std::errc::io_error));
    return static_cast<int>(ExitCode::ok);
  } catch (const CLI::Success& request) {
    app.exit(request);
    return static_cast<int>(ExitCode::ok);
  } catch (const CLI::ParseError& error) {
    app.exit(error, std::cerr, std::cerr);
    return static_cast<int>(ExitCode::usage);
  } catch (...) {
    const auto failure = verbs::describe(std::current_exception(), debug);
    std::cerr << "ablate: " + failure.message + "\n";
    return static_cast<int>(failure.code);
  }
}

}  // namespace

int main(int count, char** arguments) {
#ifndef __SANITIZE_ADDRESS__  // which finds no mistake in memory that is never freed
  ablate::training::CachingAllocator::install();
#endif
  ablate::training::install_signal_handlers();
  return run(count, arguments);
}
