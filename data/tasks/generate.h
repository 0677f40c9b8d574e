#pragma once

#include "data/corpus.h"

namespace ablate::data {

/// Makes a generated task's corpus. Where the space is small, evaluation sets are smaller than
/// asked for. Throws DataError where ICU does not spell one of the languages or the space is too
/// small for one example in each set.
Corpus generate(const DataOptions& options, uint64_t seed);

}  // namespace ablate::data
