#pragma once

#include "data/corpus.h"

namespace ablate::data {

/// Reads labelled texts, the class being the target of its example. Bad lines are treated as in
/// read_text. Throws DataError for a class with a space in its name and for one that training never
/// shows.
Corpus read_labelled(const Labelled& options, const std::filesystem::path& folder);

/// Reads running text: every line is an example without a source. Empty lines count; a line that
/// cannot be used throws DataError with file and line.
Corpus read_language(const Language& options, const std::filesystem::path& folder);

/// Opens files of tokens, each of which is one example. Throws DataError as TokenFile does, and for
/// a file that has no token to predict.
Corpus open_tokens(const Tokens& options, const std::filesystem::path& folder);

/// Reads line-parallel text. A bad line (a fault of read_lines, an empty side, a TSV line without
/// exactly one tab) throws DataError with file and line, or is left out and counted with
/// `bad_lines: skip`. Throws DataError if `train_pairs` exceeds the number of pairs.
Corpus read_text(const Text& options, const std::filesystem::path& folder);

/// Throw the DataError with which the readers above would refuse this file of `options` by its
/// first line, or by pieces of it if it holds tokens, and read no more than that. `alone`: its
/// lines are pairs.
void check_beginning(const Text& options, const std::filesystem::path& file, bool alone);
void check_beginning(const Labelled& options, const std::filesystem::path& file);
void check_beginning(const Language& options, const std::filesystem::path& file);
void check_beginning(const Tokens& options, const std::filesystem::path& file);

/// Reads one set, [source file, target file] or [TSV file], as read_text() does. Adds to `skipped`.
std::vector<Example> read_pairs(const Text& options,
                                const std::vector<std::filesystem::path>& files, int64_t& skipped);

}  // namespace ablate::data
