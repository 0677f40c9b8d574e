#pragma once

#include <ostream>

#include "experiments/run/run_job.h"

namespace ablate::run {

/// Trains and evaluates the run in this process, continuing where an earlier one stopped, and
/// writes result.json. A finished run is not changed. Of several ranks, the first one does all
/// this, and the others only share its training. `messages` gets lines for people and records of
/// progress (training/process/progress.h).
void train_run(const RunJob& job, std::ostream& messages);

}  // namespace ablate::run
