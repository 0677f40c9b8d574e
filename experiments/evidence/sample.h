#pragma once

#include <vector>

#include "experiments/evidence/evidence.h"

namespace ablate::experiments {

/// `values` has NaN where there is none; `range` is what they can be.
Sample sample_of(std::vector<double> values,
                 const statistics::Interval& range = statistics::kUnbounded);

/// Those that are there.
std::vector<double> finished_values(const Sample& sample);

}  // namespace ablate::experiments
