#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/tasks/generate.h"

namespace ablate::data {

/// Draws an example of a length.
using Sample = std::function<Example(Random&, int64_t)>;

/// A task whose examples of a length are drawn by `sample`.
TaskGenerator sampled_by_length(const SymbolTask& task, Sample sample);

/// `count` different numbers below `bound`, in random order. REQUIRES: count <= bound.
std::vector<int64_t> different(Random& random, int64_t count, int64_t bound);

/// Name of a symbol: a, b, ..., z, s27, s28, ...
std::string symbol(int64_t index);

/// Symbols with spaces between.
std::string join(const std::vector<int64_t>& symbols);

}  // namespace ablate::data
