#pragma once

#include <filesystem>
#include <optional>
#include <span>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

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
