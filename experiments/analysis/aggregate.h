#pragma once

#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// The arms over those tasks whose primary metric is the study's, within the trained length; none
/// where that is one task, or the metric is unbounded (perplexity): no scale that tasks share.
std::vector<Aggregate> aggregates_of(const Evidence& evidence);

}  // namespace ablate::analysis
