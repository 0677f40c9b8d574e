#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ablate::cli {

/// Adds `--set KEY=VALUE`, which may be given once for each key, to a verb that reads a study.
void add_set_flag(CLI::App& verb, std::vector<std::string>& sets);

}  // namespace ablate::cli
