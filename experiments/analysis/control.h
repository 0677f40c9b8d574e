#pragma once

#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// A sentence for each primary test set of a study with compare.control: the mean difference
/// between control and baseline, the deviation of these differences, which is the floor, and every
/// arm's mean difference as a multiple of it. Empty for a study without a control.
std::vector<std::string> control_notes(const Evidence& evidence);

/// A warning if a difference between control and baseline is shown; else empty.
std::string control_warning(const Evidence& evidence);

}  // namespace ablate::analysis
