#pragma once

#include <string>
#include <vector>

#include "experiments/evidence/evidence.h"
#include "experiments/result.h"

namespace ablate::experiments {

/// A figure that runs are compared by.
struct Metric {
  std::string name;
  Direction direction;
  bool share;  // of examples or tokens that are right: from 0 to 1
  double (*value)(const TestScores&);
};

/// What is measured on a test set whose outputs are compared so.
const std::vector<Metric>& metrics_of(Compared compared);

/// A figure of training or validation.
struct RunMetric {
  std::string name;
  Direction direction;
  double (*value)(const RunResult&);
};

const std::vector<RunMetric>& run_metrics();

}  // namespace ablate::experiments
