#pragma once

#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// Of a study with compare.control: a sentence for each primary test set about how far the control
/// is from the baseline, whose random numbers alone it has not, and how many times the deviation of
/// these differences, the floor, the arms' mean differences are. None of another study.
std::vector<std::string> control_notes(const Evidence& evidence);

/// A warning if a difference between control and baseline is shown; else empty.
std::string control_warning(const Evidence& evidence);

}  // namespace ablate::analysis
