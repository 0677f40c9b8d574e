#pragma once

#include "experiments/config/schema/experiment.h"
#include "experiments/config/schema/tree.h"
#include "experiments/config/study/arm.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// The target that `compare.cost_to` gives: "baseline" or a mapping with one validation metric.
/// Absent if a problem is reported.
std::optional<Target> read_target(const Value& section, ProblemList& problems);

/// Reports a training without validations on the way, which would show no cost to a target.
void check_validated(const Experiment& experiment, const Tree& tree, ProblemList& problems);

}  // namespace ablate::config
