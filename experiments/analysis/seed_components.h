#pragma once

#include <cstdint>
#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// Adds to a task of a crossed study the components of variance of every arm's values and of its
/// differences from the baseline, in primary cells or, without a baseline, in those of its leading
/// metric, if all pairs of the seeds have finite values. Takes away what would hold only of runs
/// with seeds of their own: the intervals of means, and the shares of solved runs. REQUIRES: the
/// task has all its cells and contrasts, and `seeds`, those of its samples, are of
/// config::pair_of().
void add_components(TaskEvidence& task, const std::vector<int64_t>& seeds);

}  // namespace ablate::analysis
