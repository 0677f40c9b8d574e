#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "data/data_options.h"

namespace ablate::data {

/// Data that cannot be used; the message names file and line and says how to fix it.
struct DataError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class TokenFile;

struct Example {
  std::string source, target;
  std::shared_ptr<const TokenFile> tokens = {};  // in place of both: all of a running text
  bool operator==(const Example&) const = default;
};

/// A test set, and whether it is longer than the training examples.
struct TestSet {
  std::string name;           // "length 13", "5 digits"
  int64_t length = 0;         // of every source, in `unit`; 0: they have no one length
  std::string unit;           // "symbols" or "digits"; empty without a length
  bool extrapolates = false;  // is longer than anything in training
  std::vector<Example> examples;
  int64_t in_training = 0;  // those that are among the training examples, too
  /// -ln of the probability of all targets, by the process that made them; absent: it is unknown.
  std::optional<double> nats = {};
};

struct Corpus {
  std::vector<Example> train, validation;
  std::vector<TestSet> tests;
  int64_t skipped = 0;   // bad lines left out
  int64_t repeated = 0;  // training pairs left out since they had come before
  int64_t lopsided = 0;  // and those whose sides differ too much in length
  std::string sha256;    // of all examples
};

/// Reads text or generates a task. Generated data depends only on options and seed; its training,
/// validation and test sources are disjoint, and evaluation sources do not repeat. Relative paths
/// start at `folder`. Throws DataError.
Corpus load(const DataOptions& options, const std::filesystem::path& folder, uint64_t seed);

}  // namespace ablate::data
