#pragma once

#include "experiments/config/experiment.h"
#include "experiments/records/folders.h"

namespace ablate::records {

/// Throws CheckpointError where there is no run in the folder, naming one where it is a study's.
void require_run(const RunFolder& folder);

/// Throws UsageError where a run of `own` cannot start from the one in the folder as its
/// training.init_from says, as far as configurations tell; CheckpointError as require_run().
void check_start(const RunFolder& folder, const config::Experiment& own);

}  // namespace ablate::records
