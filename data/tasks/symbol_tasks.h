#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ablate::data {

/// Name of a symbol: a, b, ..., z, s27, s28, ...
std::string symbol(int64_t index);

/// Symbols with spaces between.
std::string join(const std::vector<int64_t>& symbols);

}  // namespace ablate::data
