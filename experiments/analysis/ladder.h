#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/config/study/study.h"

namespace ablate::analysis {

/// The ladders of every declared task, over its sizes and over each numeric key of its grid, with
/// one for each combination of the other coordinates and each primary test set that all its rungs
/// have. Effects have the intervals and the p of their verdicts. Slopes, interactions and best
/// values are each tested as a family of the arms of the study's file. An arm whose verdict at a
/// rung allows no claim has none of them. All are corrected for `look` as the claims are.
/// REQUIRES: a comparison; the claims of the tasks are made.
std::vector<Ladder> ladders_of(std::span<const TaskEvidence> tasks, const config::Study& study,
                               int64_t look = 0);

}  // namespace ablate::analysis
