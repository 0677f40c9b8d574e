#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "training/training_options.h"

namespace ablate::experiments {

/// The flags of verbs that write text, over a run's own `decoding`.
class DecodingFlags {
 public:
  /// REQUIRES: outlives parsing.
  void add(CLI::App& verb);
  /// Throws UsageError where flags exclude each other.
  training::DecodingOptions over(training::DecodingOptions options) const;

 private:
  std::optional<int64_t> beam_, batch_, min_length_, max_length_, no_repeat_ngram_, top_k_, seed_;
  std::optional<double> length_penalty_, coverage_penalty_, repetition_penalty_, temperature_,
      top_p_;
  bool sample_ = false;
};

}  // namespace ablate::experiments
