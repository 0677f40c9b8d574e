#pragma once

#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// The arms' aggregates over the settings of the tasks whose primary metric is the study's, within
/// the trained length. Empty for a single declared task, however many sizes or grid points it has,
/// and for unbounded metrics such as perplexity, since tasks then share no scale.
std::vector<Aggregate> aggregates_of(const Evidence& evidence);

/// A power law of each primary cell over the arms' numbers of parameters, with an exponent for each
/// seed that all arms have finished. Empty if there are fewer than three sizes, or a value is not
/// positive. REQUIRES: mark_primary() was called.
std::vector<SizeFit> size_fits_of(const TaskEvidence& task);

}  // namespace ablate::analysis
