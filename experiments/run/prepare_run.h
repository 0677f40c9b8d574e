#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "experiments/config/schema/experiment.h"
#include "experiments/run/run_data.h"
#include "experiments/run/run_job.h"
#include "models/libtorch.h"
#include "models/transformer.h"
#include "training/training_options.h"

namespace ablate::run {

/// The device, threads and precision of a run's process.
struct Environment {
  int64_t threads;
  torch::Device device;
  training::Precision precision;  // of matrix products in training
  bool mkl_fast_path;
};

/// Sets the process up for a run: a continued one keeps its number of threads, which is part of
/// what makes it repeatable. If the device lacks the precision, it reports that and falls back to
/// fp32.
Environment set_up(const RunJob& job, std::ostream& messages);

/// The data and settings of a run before it trains.
struct Prepared {
  Environment environment;
  std::optional<std::filesystem::path> start;  // the run that training starts from
  RunData data;
  int64_t steps;  // updates
};

/// Sets the process up, reads the data and counts the updates. Throws UsageError if the arm that
/// the run starts from is not finished, or if fewer checkpoints are made than it averages, and the
/// exceptions of read_run_data().
Prepared prepare(const RunJob& job, std::ostream& messages);

/// Throws DataError if a continued run would go on with other data than it began with, and reports
/// that it goes on with another build of the program.
void check_continued(const RunJob& job, const Prepared& prepared, std::ostream& messages);

/// The facts of environment.json, besides the starts.
nlohmann::json environment_facts(const RunJob& job, const Prepared& prepared);

}  // namespace ablate::run
