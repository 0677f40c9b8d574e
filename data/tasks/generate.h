#pragma once

#include "data/corpus.h"

namespace ablate::data {

/// Makes a generated task's corpus. Throws DataError where ICU does not spell one of the languages
/// or a space of examples is too small for any evaluation example.
Corpus generate(const DataOptions& options, uint64_t seed);

}  // namespace ablate::data
