#pragma once

#include "data/corpus.h"

namespace ablate::data {

/// Reads line-parallel text. A bad line (a fault of read_lines, an empty side, a TSV line without
/// exactly one tab) throws DataError with file and line, or is left out and counted with
/// `bad_lines: skip`. Throws DataError where `train_pairs` are more than there are.
Corpus read_text(const Text& options, const std::filesystem::path& folder);

/// Throws the DataError of read_text() if the first line of a TSV file is bad, for example because
/// the file has another format or begins with column names.
void check_first_lines(const Text& options, const std::filesystem::path& folder);

/// Reads one set, [source file, target file] or [TSV file], as read_text() does. Adds to `skipped`.
std::vector<Example> read_pairs(const Text& options,
                                const std::vector<std::filesystem::path>& files, int64_t& skipped);

}  // namespace ablate::data
