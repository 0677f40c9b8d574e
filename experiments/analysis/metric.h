#pragma once

#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/records/result.h"

namespace ablate::analysis {

inline constexpr statistics::Interval kShare{0, 1};  // of examples or tokens that are right

/// A figure that runs are compared by.
struct Metric {
  std::string name;
  Direction direction;
  statistics::Interval range;  // what its values can be
  double (*value)(const records::TestScores&);
};

/// What is measured on a test set whose outputs are compared so.
const std::vector<Metric>& metrics_of(data::Compared compared);

/// A figure of training or validation.
struct RunMetric {
  std::string name;
  Direction direction;
  statistics::Interval range;
  double (*value)(const records::RunResult&);
};

const std::vector<RunMetric>& run_metrics();

}  // namespace ablate::analysis
