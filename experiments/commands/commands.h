#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace ablate::config {
struct Study;
}

namespace ablate::commands {

// Each function adds one verb of the command line; its callback does the work and throws exceptions
// that describe() (describe_failure.h) maps to the process's exit code.

void add_register(CLI::App& app);
void add_run(CLI::App& app);
void add_report(CLI::App& app);
void add_power(CLI::App& app);
void add_pack(CLI::App& app);
void add_status(CLI::App& app);
void add_cancel(CLI::App& app);
void add_metrics(CLI::App& app);
void add_tokenizer(CLI::App& app);
void add_config(CLI::App& app);
void add_init(CLI::App& app);
void add_advise(CLI::App& app);
void add_completion(CLI::App& app);
void add_help(CLI::App& app);
void add_train(CLI::App& app);
void add_eval(CLI::App& app);
void add_score(CLI::App& app);
void add_translate(CLI::App& app);
void add_data(CLI::App& app);
void add_data_fetch(CLI::App& data);
void add_data_tokens(CLI::App& data);
void add_inspect(CLI::App& app);
void add_inspect_attention(CLI::App& inspect);
void add_bench(CLI::App& app);
void add_generate(CLI::App& app);
void add_moefy(CLI::App& app);
void add_export(CLI::App& app);
void add_verify(CLI::App& app);
void add_import(CLI::App& app);
void add_doctor(CLI::App& app);

/// Prints what differences and margins the study can show of its first task, in standard deviations
/// of the differences, since their scatter is not known before it has run; nothing without a
/// comparison. `look` is that of its lock, 0 without one.
void print_power(const config::Study& study, int64_t look, std::ostream& out);

/// Possible paths of a file or folder of the source that ships with the program: in share/ablate
/// beside the program's folder, or else beside that folder.
std::vector<std::filesystem::path> shipped_places(const std::filesystem::path& in_source);

/// A study that comes with the program.
struct ShippedStudy {
  std::filesystem::path file;
  std::string question;
  std::string time;  // on two cores
};

/// The studies that are installed with the program (experiments/studies in share/ablate beside its
/// folder), or else experiments/studies below the working folder, or else beside the program's
/// folder; by name. Reports and leaves out a file that is not a valid study. Throws UsageError if
/// there is no such folder.
std::vector<ShippedStudy> shipped_studies(std::ostream& messages);

/// A line for each: file, question, time.
std::string to_text(const std::vector<ShippedStudy>& studies);

}  // namespace ablate::commands
