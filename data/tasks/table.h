#pragma once

#include "data/corpus.h"

namespace ablate::data {

/// Every fact once, as training, validation and test set alike.
Corpus fact_table(const Facts& task, uint64_t seed);

/// The whole table in random order: `share` of it as training set, one half of the rest as
/// validation and the other as test set. A source is two symbols and a target one. Throws DataError
/// if the share leaves one of the sets empty.
Corpus operation_table(const Table& task, uint64_t seed);

}  // namespace ablate::data
