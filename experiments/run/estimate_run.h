#pragma once

#include <ostream>

#include "experiments/records/run_estimate.h"
#include "experiments/run/train_run.h"

namespace ablate::run {

/// Reads the run's data and times some updates of its model, a validation and a part of the
/// evaluation, with outputs of the references' length. Writes nothing. A run that starts from an
/// arm is taken for one that starts from nothing.
records::RunEstimate estimate_run(const RunJob& job, std::ostream& messages);

}  // namespace ablate::run
