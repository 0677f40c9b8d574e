#pragma once

#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// `values` has NaN where there is none; `range` is what they can be.
Sample sample_of(std::vector<double> values,
                 const statistics::Interval& range = statistics::kUnbounded);

/// Those that are there.
std::vector<double> finished_values(const Sample& sample);

}  // namespace ablate::analysis
