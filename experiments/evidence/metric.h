#pragma once

#include <string>
#include <vector>

#include "experiments/evidence/evidence.h"
#include "experiments/result.h"

namespace ablate::experiments {

inline constexpr statistics::Interval kShare{0, 1};  // of examples or tokens that are right

/// A figure that runs are compared by.
struct Metric {
  std::string name;
  Direction direction;
  statistics::Interval range;  // what its values can be
  double (*value)(const TestScores&);
};

/// What is measured on a test set whose outputs are compared so.
const std::vector<Metric>& metrics_of(Compared compared);

/// A figure of training or validation.
struct RunMetric {
  std::string name;
  Direction direction;
  statistics::Interval range;
  double (*value)(const RunResult&);
};

const std::vector<RunMetric>& run_metrics();

}  // namespace ablate::experiments
