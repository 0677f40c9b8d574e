#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

namespace ablate::cli {

/// Adds `--data DIR` to a verb that reads a study.
void add_data_flag(CLI::App& verb, std::string& folder);

/// The folder that `--data` names. Throws UsageError where it is none.
std::filesystem::path data_folder(const std::string& folder);

}  // namespace ablate::cli
