#pragma once

#include <CLI/CLI.hpp>

namespace ablate::cli {

/// Makes every option of `app` and of its verbs that holds numbers read them as a study does: by
/// config::parse_integer and parse_number, and counts without a sign. To be called when all options
/// are there.
void read_numbers_strictly(CLI::App& app);

}  // namespace ablate::cli
