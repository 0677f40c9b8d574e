#pragma once

#include <CLI/CLI.hpp>

namespace ablate::experiments {

// Each function adds one verb of the command line; its callback does the work and throws what
// `exit_code` (experiments/exit_code.h) maps to the process's exit code.

void add_run(CLI::App& app);
void add_report(CLI::App& app);
void add_compare(CLI::App& app);
void add_eval(CLI::App& app);
void add_score(CLI::App& app);
void add_translate(CLI::App& app);
void add_metrics(CLI::App& app);
void add_tokenizer(CLI::App& app);
void add_data(CLI::App& app);
void add_config(CLI::App& app);
void add_inspect(CLI::App& app);
void add_inspect_attention(CLI::App& inspect);
void add_bench(CLI::App& app);
void add_generate(CLI::App& app);
void add_moefy(CLI::App& app);
void add_export(CLI::App& app);
void add_verify(CLI::App& app);
void add_import(CLI::App& app);
void add_init(CLI::App& app);
void add_doctor(CLI::App& app);
void add_completion(CLI::App& app);
void add_help(CLI::App& app);

}  // namespace ablate::experiments
