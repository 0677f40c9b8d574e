#pragma once

#include "data/corpus.h"

namespace ablate::data {

/// Reads line-parallel text. A bad line (a fault of read_lines, an empty side, a TSV line without
/// exactly one tab) throws DataError with file and line, or is left out and counted with
/// `bad_lines: skip`. Throws DataError where `train_pairs` are more than there are.
Corpus read_text(const Text& options, const std::filesystem::path& folder);

/// Throws DataError, as read_text() would, where the first line of a TSV file is a bad one: the
/// file has another form, or names its columns there.
void check_first_lines(const Text& options, const std::filesystem::path& folder);

/// What read_text() does for one set: [source file, target file] or [TSV file]. Adds to `skipped`.
std::vector<Example> read_pairs(const Text& options,
                                const std::vector<std::filesystem::path>& files, int64_t& skipped);

}  // namespace ablate::data
