#pragma once

#include "data/corpus.h"

namespace ablate::data {

/// Reads labelled texts, the class being the target of its example. Bad lines are treated as in
/// read_text. Throws DataError for a class with a space in its name and for one that training never
/// shows.
Corpus read_labelled(const Labelled& options, const std::filesystem::path& folder);

/// The same check for a file of labelled text.
void check_first_lines(const Labelled& options, const std::filesystem::path& folder);

}  // namespace ablate::data
