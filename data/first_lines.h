#pragma once

#include <filesystem>

#include "data/data_options.h"

namespace ablate::data {

/// Throws DataError where the first line of a file is one that load() refuses, as of a file in
/// another form or with names of columns. Reads no further.
void check_first_lines(const DataOptions& options, const std::filesystem::path& folder);

}  // namespace ablate::data
