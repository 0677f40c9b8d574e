#pragma once

#include <ostream>

#include "experiments/records/run_plan.h"
#include "experiments/run/run_job.h"

namespace ablate::run {

/// Reads the run's data and times some updates of its model, a validation and a part of the
/// evaluation, with outputs of the references' length. Writes no files. A run that starts from an
/// arm is estimated as one that trains from scratch.
records::RunEstimate estimate_run(const RunJob& job, std::ostream& messages);

/// The same on the CPU, without timing anything. Throws UsageError if the budget is in
/// seconds.
records::RunEstimate count_run(const RunJob& job);

}  // namespace ablate::run
