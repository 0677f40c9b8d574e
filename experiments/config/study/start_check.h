#pragma once

#include <vector>

#include "experiments/config/schema/experiment.h"

namespace ablate::config {

/// Why a run of `own` cannot start from a run of `source` with its training.init_from: the run of
/// `source` does not keep the weights, its model lacks the parts to drop, or the number of layers
/// that are left differs.
std::vector<training::TrainingProblem> start_problems(const Experiment& own,
                                                      const Experiment& source);

}  // namespace ablate::config
