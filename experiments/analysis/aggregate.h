#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// The arms over those tasks whose primary metric is the study's, within the trained length; none
/// where that is one task, or the metric is unbounded (perplexity): no scale that tasks share.
std::vector<Aggregate> aggregates_of(const Evidence& evidence);

/// How each primary cell of the task grows or falls with the arms' parameters, as a power law: one
/// exponent for each seed that all arms have finished. None where fewer than three sizes are there,
/// or a value is not positive. REQUIRES: mark_primary() was called.
std::vector<SizeFit> size_fits_of(const TaskEvidence& task);

/// The curves of a finished run.
struct LoggedRun {
  std::filesystem::path log;
  int64_t steps = 0;  // that it made
};

/// After how many steps each run's validation first reached the target. A run that never does is
/// censored at the steps that it made; one that never validated has no value. Throws
/// CheckpointError where a log is damaged.
Cell steps_cell(const config::Target& target, std::span<const std::optional<LoggedRun>> runs);

}  // namespace ablate::analysis
