#pragma once

#include "experiments/config/schema.h"

namespace ablate::config {

/// The schema of a study file; `base` is the schema of an Experiment.
const Schema& study_schema();

}  // namespace ablate::config
