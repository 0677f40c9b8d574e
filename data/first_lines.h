#pragma once

#include <filesystem>

#include "data/data_options.h"

namespace ablate::data {

/// Throws DataError if load() would refuse the first line of a file, for example because the file
/// has another format or begins with column names. Reads only that line.
void check_first_lines(const DataOptions& options, const std::filesystem::path& folder);

}  // namespace ablate::data
