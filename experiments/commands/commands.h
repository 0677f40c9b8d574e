#pragma once

#include <CLI/CLI.hpp>

namespace ablate::commands {

// Each function adds one verb of the command line; its callback does the work and throws what
// describe() (describe_failure.h) maps to the process's exit code.

void add_run(CLI::App& app);
void add_report(CLI::App& app);
void add_status(CLI::App& app);
void add_cancel(CLI::App& app);
void add_compare(CLI::App& app);
void add_metrics(CLI::App& app);
void add_tokenizer(CLI::App& app);
void add_config(CLI::App& app);
void add_init(CLI::App& app);
void add_completion(CLI::App& app);
void add_help(CLI::App& app);

}  // namespace ablate::commands
