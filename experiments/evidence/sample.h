#pragma once

#include <vector>

#include "experiments/evidence/evidence.h"

namespace ablate::experiments {

/// `values` has NaN where a run has not finished.
Sample sample_of(std::vector<double> values);

/// Those of the runs that have finished.
std::vector<double> finished_values(const Sample& sample);

}  // namespace ablate::experiments
