#pragma once

#include <filesystem>
#include <optional>
#include <ostream>

#include "experiments/run/environment.h"
#include "experiments/run/run_data.h"
#include "experiments/run/train_run.h"

namespace ablate::run {

/// What a run needs before it trains.
struct Prepared {
  Environment environment;
  std::optional<std::filesystem::path> start;  // the run that training starts from
  RunData data;
  int64_t steps;  // updates
};

/// Sets the process up, reads the data and counts the updates. Throws UsageError if the arm that
/// the run starts from is not finished, or if fewer checkpoints are made than it averages, and what
/// read_run_data() throws.
Prepared prepare(const RunJob& job, std::ostream& messages);

}  // namespace ablate::run
