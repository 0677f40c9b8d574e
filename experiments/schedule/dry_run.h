#pragma once

#include "experiments/schedule/run_study.h"

namespace ablate::schedule {

/// How a study is estimated.
struct DryRun {
  bool json = false;
  bool timed = true;  // false: one process at a time counts, on one thread
};

/// Prints every run of the study with its state and what it will take, to standard output: a table,
/// or a JSON line for each. For every task and arm a process times a few updates, with as many side
/// by side as runs would be; no model is kept and no file written. Throws RunsFailed if such a
/// process failed, and UsageError if the runs cannot have so many ranks.
void dry_run(const config::Study& study, const StudyOptions& options, const DryRun& how);

}  // namespace ablate::schedule
