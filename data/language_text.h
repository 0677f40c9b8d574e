#pragma once

#include "data/corpus.h"

namespace ablate::data {

/// Reads running text: every line is an example without a source. Empty lines count; a line that
/// cannot be used throws DataError with file and line.
Corpus read_language(const Language& options, const std::filesystem::path& folder);

}  // namespace ablate::data
