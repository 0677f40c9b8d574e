#pragma once

#include "data/corpus.h"

namespace ablate::data {

/// `versions` biographies of each of the people for training, in random order, and one more for
/// validation and one for the test set, which says its attributes in words drawn anew.
Corpus biographies(const Capo& task, uint64_t seed);

}  // namespace ablate::data
