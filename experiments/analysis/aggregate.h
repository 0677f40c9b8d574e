#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// The arms' aggregates over the settings of the tasks whose primary metric is the study's, each
/// on its first test set within the trained length. Empty for a single declared task, however many
/// sizes or grid points it has, and for unbounded metrics such as perplexity, since tasks then
/// share no scale.
std::vector<Aggregate> aggregates_of(const Evidence& evidence);

/// The values of a model of some size.
struct Sized {
  int64_t parameters = 0;
  const Sample* sample;
};

/// The power law of the means over the parameters, and an exponent for each seed that all models
/// have finished. Absent if there are fewer than three sizes, or a mean is not positive.
std::optional<SizeFit> size_fit_of(const std::vector<Sized>& models, const std::string& test_set,
                                   const std::string& metric);

/// The same of each primary cell over the arms of a task. REQUIRES: mark_primary() was called.
std::vector<SizeFit> size_fits_of(const TaskEvidence& task);

}  // namespace ablate::analysis
