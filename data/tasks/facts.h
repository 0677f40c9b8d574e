#pragma once

#include "data/corpus.h"

namespace ablate::data {

/// Every fact once, as training, validation and test set alike.
Corpus fact_table(const Facts& task, uint64_t seed);

}  // namespace ablate::data
