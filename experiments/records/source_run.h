#pragma once

#include "experiments/config/experiment.h"
#include "experiments/records/folders.h"

namespace ablate::records {

/// Throws CheckpointError if the folder holds no run; for a study's folder it names one of its
/// runs.
void require_run(const RunFolder& folder);

/// Throws UsageError if the configurations show that a run of `own` cannot start from the run in
/// the folder as its training.init_from says; CheckpointError as require_run().
void check_start(const RunFolder& folder, const config::Experiment& own);

}  // namespace ablate::records
