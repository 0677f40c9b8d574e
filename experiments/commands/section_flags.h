#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/config/experiment.h"
#include "experiments/config/schema.h"

namespace ablate::experiments {

/// A flag for every option below one section of a study ("tokenizer", "data"), taken from the
/// section's fields(): `train_length: [1, 12]` is `--train-length 1 12`.
class SectionFlags {
 public:
  /// Adds the flags to `verb`, without the options named in `left_out`. REQUIRES: outlives parsing.
  void add(CLI::App& verb, const std::string& section,
           std::initializer_list<std::string_view> left_out = {});

  bool given() const { return !values_.empty(); }

  /// The section's defaults with the flags over them, read and checked like `--set`. Throws
  /// ConfigError with every problem.
  Experiment read() const;

 private:
  void add_option(CLI::App& verb, const std::string& path, const Schema& option);

  std::string section_;
  std::map<std::string, std::string> values_;  // dotted path -> value as YAML
};

}  // namespace ablate::experiments
