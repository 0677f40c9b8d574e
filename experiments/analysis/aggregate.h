#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// The arms' aggregates over the tasks whose primary metric is the study's, within the trained
/// length. Empty for a single task, and for unbounded metrics such as perplexity, since tasks then
/// share no scale.
std::vector<Aggregate> aggregates_of(const Evidence& evidence);

/// A power law of each primary cell over the arms' numbers of parameters, with an exponent for each
/// seed that all arms have finished. Empty if there are fewer than three sizes, or a value is not
/// positive. REQUIRES: mark_primary() was called.
std::vector<SizeFit> size_fits_of(const TaskEvidence& task);

/// The log of a finished run.
struct LoggedRun {
  std::filesystem::path log;
  int64_t steps = 0;  // updates of the run
};

/// The number of steps at which each run's validation first reached the target. A run that never
/// reaches it is censored at its last step; a run without validations has no value. Throws
/// CheckpointError if a log is damaged.
Cell steps_cell(const config::Target& target, std::span<const std::optional<LoggedRun>> runs);

}  // namespace ablate::analysis
