#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/random.h"

namespace ablate::data {

/// How one task makes examples; everything else (disjointness, sizes, naming) is shared.
struct Source {
  std::function<Example(Random&)> train;             // any trained length
  std::function<Example(Random&, int64_t)> of_size;  // exactly this length
  std::vector<int64_t> test_sizes;
  int64_t largest_trained;
  std::string unit;  // "length 13" puts it in front, "5 digits" behind
  Sizes sizes;
};

/// Throws DataError for data that is read and not drawn, and where ICU does not spell a language.
Source source_of(const DataOptions& options);

}  // namespace ablate::data
