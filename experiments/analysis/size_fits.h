#pragma once

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// How each primary cell of the task grows or falls with the arms' parameters, as a power law: one
/// exponent for each seed that all arms have finished. None where fewer than three sizes are there,
/// or a value is not positive. REQUIRES: mark_primary() was called.
std::vector<SizeFit> size_fits_of(const TaskEvidence& task);

}  // namespace ablate::analysis
