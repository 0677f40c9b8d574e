#pragma once

#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/config/study/study.h"

namespace ablate::analysis {

/// Puts a cell before the others of every arm: the task's metric over the test sets with a length,
/// those that `comparison` names or all, one number for each seed by `comparison.over`. A seed that
/// lacks one of them has no number. There is no cell for fewer than two test sets. REQUIRES:
/// is_over_lengths().
void add_over_lengths(TaskEvidence& task, const config::Comparison& comparison);

/// For each size and point of the grid the mean over the tasks of the mean over their primary test
/// sets, one number for each seed, as the only cell of a setting of the task kAllTasks; costs are
/// sums, and parameters means. A seed that lacks a test set has no number. Empty if not every task
/// of the study's file is there. REQUIRES: mark_primary() was called.
std::vector<TaskEvidence> over_tasks(const std::vector<TaskEvidence>& tasks,
                                     const config::Study& study);

}  // namespace ablate::analysis
