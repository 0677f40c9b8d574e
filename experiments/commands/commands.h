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

/// Adds a verb to the command line or to the verb above it; its callback does the work and throws
/// exceptions that describe() (describe_failure.h) maps to the process's exit code.
using AddVerb = void(CLI::App& above);

AddVerb add_register, add_run, add_report, add_power, add_pack, add_status, add_cancel, add_metrics,
    add_tokenizer, add_config, add_init, add_advise, add_completion, add_help, add_train, add_eval,
    add_score, add_translate, add_data, add_data_fetch, add_data_tokens, add_inspect,
    add_inspect_attention, add_bench, add_generate, add_moefy, add_export, add_verify, add_import,
    add_doctor;

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
