#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace ablate::commands {

/// Makes every option of `app` and of its verbs that holds numbers read them as a study does: by
/// config::parse_integer and parse_number, and counts without a sign. To be called when all options
/// are there.
void read_numbers_strictly(CLI::App& app);

/// A check that a whole number is from `least` to `most`.
CLI::Validator between(int64_t least, int64_t most);

/// A check that a number is above 0.
CLI::Validator above_zero();

}  // namespace ablate::commands
