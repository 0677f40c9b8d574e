#pragma once

#include "data/tasks/source.h"

namespace ablate::data {

/// Name of a symbol: a, b, ..., z, s27, s28, ...
std::string symbol(int64_t index);

/// Symbols with spaces between.
std::string join(const std::vector<int64_t>& symbols);

/// A task whose examples of a length are drawn by `of_size`.
Source of_length(const SymbolTask& task, std::function<Example(Random&, int64_t)> of_size);

Source source_of(const Copy& task);
Source source_of(const Reverse& task);
Source source_of(const Sort& task);
Source source_of(const Duplicate& task);
Source source_of(const SelectiveCopy& task);
Source source_of(const Parity& task);
Source source_of(const ModularArithmetic& task);
Source source_of(const Dyck& task);
Source source_of(const Recall& task);

}  // namespace ablate::data
