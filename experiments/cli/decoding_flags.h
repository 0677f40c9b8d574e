#pragma once

#include <optional>

#include "experiments/cli/section_flags.h"

namespace ablate::cli {

/// The flags of verbs that write text: a flag for every option of `decoding`, over a run's own.
class DecodingFlags {
 public:
  /// REQUIRES: outlives parsing.
  void add(CLI::App& verb);
  /// The options for `n_best` outputs of a line, where these were asked for. Throws ConfigError
  /// where a value is out of range, UsageError where flags exclude each other.
  models::SearchOptions over(const config::Experiment& experiment,
                             std::optional<int64_t> n_best = {}) const;

 private:
  SectionFlags section_;
  bool sample_ = false;
};

}  // namespace ablate::cli
