#pragma once

#include "experiments/schedule/run_study.h"

namespace ablate::schedule {

/// Prints every run of the study with its state and what it will take, to standard output: a table,
/// or a JSON line for each. Of every task and arm a process as for a run times a few updates, as
/// many side by side as runs would be; nothing is trained or written. Throws RunsFailed where such
/// a process failed.
void dry_run(const config::Study& study, const StudyOptions& options, bool json);

}  // namespace ablate::schedule
