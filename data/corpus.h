#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "data/data_options.h"

namespace ablate::data {

/// Data that cannot be used; the message names file and line and says how to fix it.
struct DataError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Example {
  std::string source, target;
  bool operator==(const Example&) const = default;
};

/// A test set and whether it is longer than what training shows ("length 13", "5 digits").
struct TestSet {
  std::string name;
  bool extrapolation = false;
  std::vector<Example> examples;
  int64_t in_training = 0;  // of them, those that stand among the training examples, too
};

struct Corpus {
  std::vector<Example> train, validation;
  std::vector<TestSet> tests;
  int64_t skipped = 0;  // bad lines left out
  std::string sha256;   // of all examples
};

/// Reads text or generates a task. Generated data is a function of options and seed alone; its
/// training, validation and test sources are disjoint, and evaluation sources do not repeat.
/// `folder` is where relative paths start. Throws DataError.
Corpus load(const DataOptions& options, const std::filesystem::path& folder, uint64_t seed);

}  // namespace ablate::data
