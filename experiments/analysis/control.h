#pragma once

#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// Whether the arm is that of compare.control.
bool is_control(const Evidence& evidence, const std::string& arm);

/// A sentence for each primary test set of a study with compare.control: the mean difference
/// between control and baseline, the deviation of these differences, which is the floor, and every
/// other arm's mean difference as a multiple of it, if it is tested. Empty for a study without a
/// control.
std::vector<std::string> control_notes(const Evidence& evidence);

/// A warning, a line of its own, if a difference between control and baseline is shown; else empty.
std::string control_warning(const Evidence& evidence);

}  // namespace ablate::analysis
