#pragma once

#include <string>
#include <vector>

#include "experiments/config/schema.h"

namespace ablate::experiments {

/// The schema of a study file; `base` is the schema of an Experiment.
Schema study_schema();

/// The metrics that arms can be compared by.
const std::vector<std::string>& metrics();

}  // namespace ablate::experiments
