#pragma once

#include <string>
#include <vector>

#include "experiments/config/experiment.h"

namespace ablate::config {

/// Why a run cannot start from another one as it says.
struct StartProblem {
  std::string key;  // below training.init_from
  std::string why;
};

/// What keeps `own` from starting from a run of `source` as its training.init_from says: weights
/// that such a run does not keep, parts that its model does not have, or another number of layers
/// than it leaves.
std::vector<StartProblem> start_problems(const Experiment& own, const Experiment& source);

}  // namespace ablate::config
